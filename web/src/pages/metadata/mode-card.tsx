import { useState } from "react";
import type { AppEditBody } from "../../../../src/contract/setting/app.ts";
import type { ShownMetadata } from "../../../../src/contract/setting/metadata.ts";
import { post } from "../../api.ts";
import { APPS_KEY, useApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { METADATA } from "./declaring.ts";
import { texts } from "./texts.ts";

/**
 * Whether undeclared names are accepted, and a switch to the other mode that first says what it would change for this app.
 */
export function ModeCard({ metadata }: { metadata: ShownMetadata }) {
  const text = useTexts(texts);
  const mayChange = useMay("setting");
  const [isChanging, setChanging] = useState(false);
  const mode = metadata.metadata;
  return (
    <section className="card row apart">
      <div className="stack tight grow">
        <h2 className="row">
          {text.mode} <Badge tone={mode === "strict" ? "accent" : "plain"}>{text.modes[mode]}</Badge>
        </h2>
        <p className="soft">{text.modeAbout[mode]}</p>
      </div>
      {mayChange && <Button onClick={() => setChanging(true)}>{mode === "open" ? text.toStrict : text.toOpen}</Button>}
      {isChanging && <ModeDialog metadata={metadata} onClose={() => setChanging(false)} />}
    </section>
  );
}

function ModeDialog({ metadata, onClose }: { metadata: ShownMetadata; onClose: () => void }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const next = metadata.metadata === "open" ? "strict" : "open";
  const undeclared = (names: readonly { state: string }[]) => names.filter(({ state }) => state === "observed").length;
  const words =
    next === "strict"
      ? {
          title: text.toStrictTitle,
          about: text.toStrictText(undeclared(metadata.events), undeclared(metadata.properties)),
          submit: text.toStrict,
        }
      : { title: text.toOpenTitle, about: text.toOpenText, submit: text.toOpen };
  return (
    <ChangeDialog
      title={words.title}
      onClose={onClose}
      submit={{ label: words.submit }}
      ask={() => post("apps/edit", { app_id, metadata: next } satisfies AppEditBody)}
      stale={[APPS_KEY, [METADATA]]}
      said={() => text.modeChanged}
    >
      <p className="notice warn">{words.about}</p>
    </ChangeDialog>
  );
}
