// Light or dark: the choice lives in a cookie that the server reads, so that no page flashes.
const root = document.documentElement;
for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const next = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${next}; path=/; max-age=31536000; samesite=lax${secure}`;
    document.dispatchEvent(new CustomEvent("themechange"));
  });
}
