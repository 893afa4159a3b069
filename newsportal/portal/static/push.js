/* The button that subscribes this browser to notifications and puts the subscription into the form. */
(() => {
  "use strict";
  const button = document.querySelector("[data-push]");
  const field = document.querySelector("#alert-subscription");
  const status = document.querySelector("[data-push-status]");
  if (!button || !field || !("PushManager" in window)) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      const { pushManager } = await navigator.serviceWorker.ready;
      field.value = JSON.stringify(await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: button.dataset.push }));
      status.textContent = button.dataset.done;
    } catch {
      status.textContent = button.dataset.refused;
    }
  });
})();
