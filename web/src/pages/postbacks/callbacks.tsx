import { useState } from "react";
import type { CallbackList, GivenUp } from "../../../../src/contract/setting/account.ts";
import { post } from "../../api.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { TellDialog } from "../../ui/dialog.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { CallbackForm } from "./callback-form.tsx";
import { CALLBACKS, type Callback, type Kind } from "./callback-query.ts";
import { texts } from "./callback-texts.ts";

const KINDS: readonly Kind[] = ["attribution", "event"];

type Doing = { what: "set" | "remove"; kind: Kind; known: Callback | undefined } | { what: "secret"; secret: string };

/** The addresses of the app's own systems that are notified. */
export function Callbacks() {
  const text = useTexts(texts);
  const [doing, setDoing] = useState<Doing>();
  const callbacks = useAppQuery<CallbackList>(CALLBACKS);
  const close = () => setDoing(undefined);
  return (
    <>
      <p className="soft">{text.about}</p>
      <QueryView query={callbacks}>
        {(data) => (
          <>
            <div className="grid">
              {KINDS.map((kind) => (
                <CallbackCard
                  key={kind}
                  kind={kind}
                  known={data.callbacks.find((callback) => callback.kind === kind)}
                  onDo={setDoing}
                />
              ))}
            </div>
            <Macros macros={data.macros} />
          </>
        )}
      </QueryView>
      {doing?.what === "set" && (
        <CallbackForm
          kind={doing.kind}
          known={doing.known}
          onClose={close}
          onMade={(secret) => setDoing(secret === undefined ? undefined : { what: "secret", secret })}
        />
      )}
      {doing?.what === "remove" && <RemoveDialog kind={doing.kind} onClose={close} />}
      {doing?.what === "secret" && <SecretDialog secret={doing.secret} onClose={close} />}
    </>
  );
}

type CardProps = { kind: Kind; known: Callback | undefined; onDo: (doing: Doing) => void };

function CallbackCard({ kind, known, onDo }: CardProps) {
  const text = useTexts(texts);
  const mayChange = useMay("setting");
  return (
    <section className="card stack tight">
      <h2>{text.kinds[kind]}</h2>
      <p className="soft">{text.explained[kind]}</p>
      {known ? <CopyBlock value={known.url} wrap /> : <p>{text.none}</p>}
      {known && known.events.length > 0 && (
        <p>
          {text.events}: <code>{known.events.join(", ")}</code>
        </p>
      )}
      {mayChange && (
        <div className="row end">
          {known && (
            <Button size="small" look="danger" onClick={() => onDo({ what: "remove", kind, known })}>
              {text.remove}
            </Button>
          )}
          <Button size="small" onClick={() => onDo({ what: "set", kind, known })}>
            {known ? text.change : text.make}
          </Button>
        </div>
      )}
    </section>
  );
}

function Macros({ macros }: { macros: readonly string[] }) {
  const text = useTexts(texts);
  const meanings: Readonly<Record<string, string>> = text.meanings;
  return (
    <details className="card reasons macro-table">
      <summary>{text.macros}</summary>
      <DataTable
        label={text.macros}
        rows={macros}
        keyOf={(macro) => macro}
        columns={[
          { name: "macro", title: text.macro, cell: (macro) => <code>{macro}</code> },
          { name: "meaning", title: text.meaning, cell: (macro) => meanings[macro] ?? "" },
        ]}
      />
    </details>
  );
}

function RemoveDialog({ kind, onClose }: { kind: Kind; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  return (
    <ChangeDialog
      title={text.removeTitle}
      submit={{ label: text.remove, look: "danger" }}
      ask={() => post<GivenUp>("callbacks/remove", { app_id: app.app_id, kind })}
      stale={[[CALLBACKS]]}
      said={({ given_up }) => text.removed(given_up)}
      onClose={onClose}
    >
      <p>{text.removeAbout}</p>
    </ChangeDialog>
  );
}

function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  const text = useTexts(texts);
  return (
    <TellDialog title={text.secretTitle} onClose={onClose}>
      <p>{text.secretAbout}</p>
      <CopyBlock value={secret} />
    </TellDialog>
  );
}
