// Copies the text below a button with data-copy; the button shows only where copying works.
const reveal = () => {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const words = button.lastChild;
  await navigator.clipboard.writeText(button.closest("details").querySelector("pre").textContent);
  const before = words.textContent;
  words.textContent = "Copied";
  setTimeout(() => { words.textContent = before; }, 1500);
});
document.addEventListener("htmx:afterSwap", reveal);
reveal();
