// Somebody who pastes a key means a new one: the choice beside it follows.
const secret = document.getElementById("id_secret");
const choice = document.getElementById("id_api_key");
secret?.addEventListener("input", () => {
  if (secret.value && choice?.value === "") choice.value = "new";
  if (!secret.value && choice?.value === "new") choice.value = "";
});
