// Leaving the editor with unsaved changes asks first; Tab in the file's text stays a way out, so it is left alone.
let isChanged = false;
const isEditor = (node) => node instanceof Element && node.closest("#editor") !== null;
document.addEventListener("input", (event) => {
  if (isEditor(event.target) && event.target.name !== "pick") isChanged = true;
});
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("#editor button[name=do]") : null;
  if (button && /^(add|remove|up|down)/.test(button.value)) isChanged = true;
});
document.addEventListener("submit", () => {
  isChanged = false;
});
window.addEventListener("beforeunload", (event) => {
  if (isChanged) event.preventDefault();
});
// A row that was just opened takes the cursor.
document.addEventListener("htmx:afterSwap", () => {
  document.querySelector("#open-row .input, #open-row .select")?.focus({ preventScroll: true });
});
