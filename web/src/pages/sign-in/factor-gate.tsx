import { queries, SESSION_KEY } from "../../api.ts";
import { useSignOut } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { Brand } from "../../ui/brand.tsx";
import { Button } from "../../ui/button.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { useFactorQuery } from "../account/second-factor.tsx";
import { factorTexts } from "../account/second-factor-texts.ts";
import { SetUpFactor } from "../account/set-up-factor.tsx";
import "./sign-in.css";

/** Shown to people whose role needs a second factor until they have one. */
export function FactorGate() {
  const text = useTexts(factorTexts);
  const factor = useFactorQuery();
  const leaving = useSignOut();
  const onDone = () => void queries.invalidateQueries({ queryKey: SESSION_KEY });
  return (
    <main className="gate">
      <div className="gate-card">
        <Brand />
        <h1>{text.gateTitle}</h1>
        <p className="soft">{text.required}</p>
        <QueryView query={factor}>
          {({ has_password }) => <SetUpFactor hasPassword={has_password} onDone={onDone} />}
        </QueryView>
        <Button size="small" onClick={() => leaving.mutate()}>
          {text.signOut}
        </Button>
      </div>
    </main>
  );
}
