/* Marks stories without reloading the page; without JavaScript the same buttons submit the form. */
(() => {
  "use strict";
  const form = document.querySelector("#marks");
  if (!form) return;
  const OTHER = { read: "unread", unread: "read", star: "unstar", unstar: "star" };

  const send = (name, value) => fetch(form.action, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams({ [name]: value }),
  });

  function show(button) {
    const on = button.name === "read" || button.name === "star";
    for (const same of document.querySelectorAll(`.marks [name="${button.name}"][value="${button.value}"]`)) {
      same.name = OTHER[same.name];
      same.setAttribute("aria-pressed", on);
      if (same.classList.contains("tick")) same.closest(".item, li")?.classList.toggle("read", on);
    }
  }

  form.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if (!button) return;
    event.preventDefault();
    const answer = await send(button.name, button.value).catch(() => null);
    if (answer?.ok) show(button);
    else if (answer?.status === 409) location.assign("/starred");
    else location.reload(); // signed out meanwhile, or offline: the reloaded page says so
  });

  /* Mark a story as read after it was visible for some seconds. */
  const SECONDS = 3;
  const story = document.querySelector("[data-unread]");
  if (!story) return;
  let seen = 0;
  const clock = setInterval(async () => {
    if (document.visibilityState !== "visible") return;
    seen += 1;
    if (seen < SECONDS) return;
    clearInterval(clock);
    const tick = story.querySelector(".tick[name=read]");
    const answer = tick && await send("read", story.dataset.unread).catch(() => null);
    if (answer?.ok) show(tick);
  }, 1000);
})();
