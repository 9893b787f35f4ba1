# syntax=docker/dockerfile:1
# One file for all roles. Targets: web (no PyTorch), worker (with it).
#   CPU:  docker build --target worker -t vlmlab-worker .
#   GPU:  docker build --target worker -t vlmlab-worker-gpu \
#           --build-arg BASE=nvidia/cuda:12.8.1-runtime-ubuntu22.04 --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu128 .
# BASE must offer python3.11 or apt's python3.11 (Ubuntu 22.04, Debian 12).
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS python
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN if ! command -v python3.11 >/dev/null; then \
        apt-get update \
        && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3.11 python3.11-venv \
        && rm -rf /var/lib/apt/lists/*; \
    fi \
    && python3.11 -m venv /opt/venv \
    && useradd --system --uid 1000 --create-home lab \
    && install -d -o lab -g lab /data /app
ENV PATH=/opt/venv/bin:$PATH VLMLAB_DATA_DIR=/data VLMLAB_STATIC_ROOT=/app/staticfiles
WORKDIR /app

# The site itself never loads PyTorch: its image leaves out what only workers use.
FROM python AS web
COPY requirements.txt .
RUN grep -vE '^(torch|transformers|tokenizers|safetensors|embreex)==' requirements.txt >requirements-web.txt \
    && pip install -r requirements-web.txt
COPY --chown=lab:lab . .
RUN VLMLAB_SECRET_KEY=only-for-collecting-static-files python manage.py collectstatic --noinput -v 0 \
    && chown -R lab:lab staticfiles
USER lab
EXPOSE 8000
STOPSIGNAL SIGTERM
CMD ["uvicorn", "vlmlab.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--lifespan", "off", \
     "--no-access-log", "--no-server-header", "--timeout-graceful-shutdown", "10"]

FROM python AS worker
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY requirements.txt .
RUN pip install --extra-index-url ${TORCH_INDEX} -r requirements.txt
COPY --chown=lab:lab . .
USER lab
STOPSIGNAL SIGTERM
ENV VLMLAB_SQLITE_SYNCHRONOUS=NORMAL MALLOC_ARENA_MAX=2
CMD ["celery", "-A", "vlmlab.celery", "worker", "-P", "threads", "-c", "2", "-Q", "cpu,api", "--loglevel", "INFO", \
     "--without-gossip", "--without-mingle", "--without-heartbeat"]
