import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiTokenList, MadeApiToken, ShownApiToken } from "../../../../src/contract/setting/api-token.ts";
import { get, post } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useAppName } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { ROLE_NAMES } from "../../role-name.tsx";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { FormDialog, TellDialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { TOKENS_KEY } from "./account-query.ts";
import { NewTokenDialog } from "./new-token.tsx";
import { tokenTexts } from "./token-texts.ts";

type Doing = { what: "make" } | { what: "show"; made: MadeApiToken } | { what: "revoke"; token: ShownApiToken };

/** Tokens for programs. */
export function TokensTab() {
  const text = useTexts(tokenTexts);
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  const tokens = useQuery({
    queryKey: TOKENS_KEY,
    queryFn: ({ signal }) => get<ApiTokenList>("api-tokens", {}, signal),
  });
  return (
    <>
      <div className="row apart">
        <p className="soft grow">{text.about}</p>
        <Button look="main" onClick={() => setDoing({ what: "make" })}>
          {text.add}
        </Button>
      </div>
      <QueryView query={tokens}>
        {(found) => <TokenTable tokens={found.tokens} onRevoke={(token) => setDoing({ what: "revoke", token })} />}
      </QueryView>
      {doing?.what === "make" && (
        <NewTokenDialog
          daysMax={tokens.data?.days_max ?? 1}
          onClose={close}
          onMade={(made) => setDoing({ what: "show", made })}
        />
      )}
      {doing?.what === "show" && (
        <TellDialog title={text.madeTitle(doing.made.name)} onClose={close} done={text.done}>
          <p className="notice warn">{text.madeText}</p>
          <CopyBlock value={doing.made.token} wrap />
        </TellDialog>
      )}
      {doing?.what === "revoke" && <RevokeDialog token={doing.token} onClose={close} />}
    </>
  );
}

const TONES = { valid: "good", ended: "plain", revoked: "bad" } as const;

type TokenTableProps = { tokens: readonly ShownApiToken[]; onRevoke: (token: ShownApiToken) => void };

function TokenTable({ tokens, onRevoke }: TokenTableProps) {
  const text = useTexts(tokenTexts);
  const names = useTexts(ROLE_NAMES);
  const format = useFormat();
  const appName = useAppName();
  const columns: Column<ShownApiToken>[] = [
    {
      name: "name",
      title: text.columns.name,
      cell: ({ name, prefix, state }) => (
        <>
          <span className="row">
            <strong>{name}</strong>
            <Badge tone={TONES[state]}>{text.states[state]}</Badge>
          </span>
          <div className="soft small mono">{prefix}…</div>
        </>
      ),
    },
    { name: "owner", title: text.columns.owner, cell: ({ owner }) => owner || text.commandLine },
    {
      name: "scope",
      title: text.columns.scope,
      cell: ({ role, apps }) => (
        <>
          <div>{names[role]}</div>
          <div className="soft small">{apps === "all" ? text.allApps : apps.map(appName).join(", ")}</div>
        </>
      ),
    },
    { name: "ends", title: text.columns.ends, cell: ({ ends_at_ms }) => format.instant(ends_at_ms) },
    {
      name: "used",
      title: text.columns.used,
      cell: ({ used_at_ms }) => (used_at_ms === null ? text.never : format.instant(used_at_ms)),
    },
    {
      name: "actions",
      title: text.columns.actions,
      cell: (token) =>
        token.state === "valid" && (
          <Button size="small" look="danger" onClick={() => onRevoke(token)}>
            {text.revoke}
          </Button>
        ),
    },
  ];
  const empty = (
    <Empty title={text.none}>
      <p>{text.noneHelp}</p>
    </Empty>
  );
  return <DataTable label={text.about} columns={columns} rows={tokens} keyOf={({ id }) => id} empty={empty} />;
}

function RevokeDialog({ token: { id, name }, onClose }: { token: ShownApiToken; onClose: () => void }) {
  const text = useTexts(tokenTexts);
  const revoking = useChange({
    ask: () => post("api-tokens/revoke", { id }),
    stale: [TOKENS_KEY],
    said: () => text.revoked(name),
    onDone: onClose,
  });
  return (
    <FormDialog
      title={text.revokeTitle(name)}
      onClose={onClose}
      submit={{ label: text.revoke, look: "danger" }}
      doing={revoking}
    >
      <p className="notice warn">{text.revokeText}</p>
    </FormDialog>
  );
}
