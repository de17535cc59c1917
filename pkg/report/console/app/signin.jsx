import { useEffect, useRef } from "preact/hooks";
import { canSignOut, signOut, useToken } from "./connection.js";
import { signIn } from "./store.js";

// SignIn is the form for a token of the hub. The token is sent to this console only, which lets the hub check it.
export function SignIn() {
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const submit = (event) => {
    event.preventDefault();
    const token = field.current.value.trim();
    if (token) useToken(token);
  };
  const { reason } = signIn.value;
  return (
    <form class="signin" onSubmit={submit}>
      <p>Sign in with a token of the hub. The page shows what your rights on the hub allow.</p>
      {reason ? <p role="alert" id="refused" class="notice urgent">{reason}</p> : null}
      <p><label for="token">Token</label><br />
        <input id="token" ref={field} type="password" autocomplete="off" required aria-describedby={reason ? "help refused" : "help"} /> <button>Sign in</button></p>
      <p id="help" class="quiet">A service account has one: <code>kubectl create token NAME -n NAMESPACE --duration=1h --audience=interlock-console</code>. If the hub knows your users by OpenID Connect, an ID token is one, too. The token stays in this tab until you close it.</p>
    </form>
  );
}

export const SignOut = () => (canSignOut() ? <p class="signout"><button type="button" onClick={signOut}>Sign out</button></p> : null);
