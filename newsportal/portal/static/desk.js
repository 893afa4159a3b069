/* What htmx changes on the desk's pages: told to those who do not see it, never under the hands of those who read it. */
(() => {
  "use strict";
  const said = document.querySelector("#said");
  const lost = document.querySelector("#lost");
  if (!said || !lost) return;

  /* Browsers without ::details-content: beside the page the menu stands open, above it it is closed. */
  const menu = document.querySelector(".desk-menu");
  if (!CSS.supports("selector(::details-content)")) menu.open = matchMedia("(min-width: 52.01rem)").matches;

  /* What asks again by itself rests while somebody is in it: a log that is read stands still. */
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, target, requestConfig } = event.detail;
    if (requestConfig?.verb === "get" && elt.querySelector(".log:focus")) event.preventDefault();
    else if (requestConfig?.verb === "post") target?.setAttribute("aria-busy", "true");
  });

  /* The sentence of what was swapped, each time that it is another one. */
  document.addEventListener("htmx:afterSettle", ({ detail: { elt } }) => {
    const sentence = elt.closest?.("[data-said]")?.dataset.said;
    if (sentence && said.textContent !== sentence) said.textContent = sentence;
  });

  document.addEventListener("htmx:afterRequest", ({ detail: { target, xhr } }) => {
    target?.removeAttribute("aria-busy");
    lost.hidden = xhr.status > 0 && xhr.status < 500;
  });
})();
