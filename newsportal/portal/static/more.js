/* "More" appends the next photo stories to the page; without JavaScript it is a link to the next page. */
(() => {
  "use strict";
  const wall = document.querySelector("[data-wall]");
  const link = document.querySelector("[data-more]");
  if (!wall || !link) return;
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (link.getAttribute("aria-busy") === "true") return;
    link.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(link.href);
      if (!answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const cards = [...page.querySelectorAll("[data-wall] > *")].map((card) => document.importNode(card, true));
      wall.append(...cards);
      const further = page.querySelector("[data-more]");
      if (further) link.href = further.getAttribute("href");
      else link.remove();
      document.dispatchEvent(new CustomEvent("stories-added"));
      cards[0]?.querySelector("a")?.focus({ preventScroll: true });
    } catch {
      location.assign(link.href);
    } finally {
      link.removeAttribute("aria-busy");
    }
  });
})();
