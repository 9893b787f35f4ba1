// Small live parts of every page: toasts that can be put away, problems of a polled part, forms that send themselves.
const TOAST_MS = 8000;

function addToast(text, href = "") {
  const toast = document.createElement("div");
  toast.className = "toast";
  const words = document.createElement("p");
  words.textContent = text;
  if (href) {
    const link = document.createElement("a");
    link.href = href;
    link.textContent = "Look at it";
    words.append(" ", link);
  }
  toast.append(words);
  document.getElementById("toasts")?.append(toast);
  setTimeout(() => toast.remove(), TOAST_MS);
}

for (const button of document.querySelectorAll("[data-dismiss]")) button.hidden = false;

// What was done passes, as a toast of a live part does; what asks for something stays until it is put away.
for (const toast of document.querySelectorAll(".toast[data-passing]")) setTimeout(() => toast.remove(), TOAST_MS);

document.addEventListener("click", (event) => {
  event.target.closest?.("[data-dismiss]")?.closest(".toast")?.remove();
});

// A filter bar sends itself when one of its choices changes; its button stays for those without scripts.
for (const form of document.querySelectorAll("form[data-auto-submit]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

// A menu closes when the reader turns to something else, and on Esc.
function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(except)) menu.open = false;
}
document.addEventListener("click", (event) => closeMenus(event.target));
document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenus(null); });

// A form is sent once: a double click must not start two runs.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, 4000);
});

// The server sends {"toast": {"text", "href"}} in HX-Trigger when something happened that is worth a look.
document.addEventListener("toast", (event) => addToast(event.detail.text, event.detail.href));

// A part that could not be fetched says so once instead of standing still in silence.
let toldOffline = false;
document.addEventListener("htmx:sendError", () => {
  if (!toldOffline) addToast("The lab does not answer at the moment. This page tries again by itself.");
  toldOffline = true;
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) toldOffline = false;
});
