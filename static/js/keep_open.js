// A polled part is replaced every few seconds: what the reader has opened in it stays open.
let open = [];
document.addEventListener("htmx:beforeSwap", () => {
  open = [...document.querySelectorAll("details[data-keep][open]")].map((one) => one.id);
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
});
