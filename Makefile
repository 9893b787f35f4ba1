# VLM Lab: "make run" starts the lab, "make test" checks everything. "make help" lists the rest.
PYTHON ?= python3.11
VENV ?= .venv
PIP_FLAGS ?=
PORT ?= 8000
HOST ?= 127.0.0.1
BIN := $(VENV)/bin
SETUP := PYTHON="$(PYTHON)" VENV="$(VENV)" PIP_FLAGS="$(PIP_FLAGS)" sh tools/ci/setup.sh

.DEFAULT_GOAL := help
.PHONY: help setup setup-tests run test lint format bench pocket

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'
	@echo '  CPU-only PyTorch on Linux: make setup PIP_FLAGS="--extra-index-url https://download.pytorch.org/whl/cpu"'

setup: ## make .venv and install what the lab needs (again only when requirements change)
	@$(SETUP) requirements.txt

setup-tests: setup
	@$(SETUP) tests/requirements.txt

run: setup ## start the whole lab and print its address (PORT=8000 HOST=127.0.0.1)
	@exec $(BIN)/python manage.py up --host $(HOST) --port $(PORT)

test: setup-tests ## every check and every test, on SQLite and PostgreSQL
	@exec $(BIN)/python -m tools.ci.everything

lint: setup-tests ## the checks that run no tests
	@exec $(BIN)/python -m tools.ci.everything --only-checks

format: setup-tests ## rewrite the code in the house format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup ## measure what docs/benchmarks.md reports and needs no other environment (hours)
	PYTHONPATH=. $(BIN)/python benchmarks/search.py --seeds 10 --check
	PYTHONPATH=. $(BIN)/python benchmarks/confirmation.py --seeds 12
	OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python benchmarks/renderer.py --domain driving
	OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python benchmarks/renderer.py --domain indoor
	$(BIN)/python manage.py check_scenes --domain driving --sets 500 --seed 11
	$(BIN)/python manage.py check_scenes --domain indoor --sets 500 --seed 11
	PYTHONPATH=. $(BIN)/python benchmarks/render_farm.py --budget 64
	OMP_NUM_THREADS=2 PYTHONPATH=. $(BIN)/python benchmarks/sut_throughput.py vlmlab/assets/pocket
	OMP_NUM_THREADS=2 PYTHONPATH=. $(BIN)/python benchmarks/sut_throughput.py vlmlab/assets/pocket --task boxes
	PYTHONPATH=. $(BIN)/python benchmarks/replies.py
	PYTHONPATH=. $(BIN)/python benchmarks/scripted.py --check
	PYTHONPATH=. $(BIN)/python benchmarks/engine.py --trials 5000
	PYTHONPATH=. $(BIN)/python benchmarks/pages.py
	PYTHONPATH=. $(BIN)/python benchmarks/startup.py
	PYTHONPATH=. $(BIN)/python benchmarks/perturb_text.py --check
	PYTHONPATH=. $(BIN)/python benchmarks/modality_overhead.py --n-seed-images 6
	PYTHONPATH=. $(BIN)/python benchmarks/most.py --seeds 20 --check

pocket: setup ## train the shipped VLMs again from scratch (hours; goes on where it stopped)
	@PYTHON="$(BIN)/python" sh tools/pocket/make.sh
