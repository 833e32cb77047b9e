import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { MadeApiToken } from "../../../../src/contract/setting/api-token.ts";
import type { Role } from "../../../../src/contract/setting/session.ts";
import { post, queries } from "../../api.ts";
import { useApps } from "../../chosen-app.tsx";
import { grantsFor, grantsForAll, useGrants } from "../../may.ts";
import { ROLE_NAMES, ROLES, strongestRole } from "../../role-name.tsx";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { CodeField, PasswordField, SelectField, TextField } from "../../ui/field.tsx";
import { TOKENS_KEY } from "./account-query.ts";
import { useFactorQuery } from "./second-factor.tsx";
import { tokenTexts } from "./token-texts.ts";

const ALL = "all";

type NewTokenProps = { daysMax: number; onClose: () => void; onMade: (made: MadeApiToken) => void };

/** Offers only what the person has themselves; the server decides again. */
export function NewTokenDialog({ daysMax, onClose, onMade }: NewTokenProps) {
  const text = useTexts(tokenTexts);
  const names = useTexts(ROLE_NAMES);
  const grants = useGrants();
  const { data } = useApps();
  const isEverywhere = grantsForAll(grants).length > 0;
  const [name, setName] = useState("");
  const [app, setApp] = useState(isEverywhere ? ALL : String(data?.apps[0]?.app_id ?? ""));
  const [chosen, setRole] = useState<Role>("viewer");
  const [days, setDays] = useState("90");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const factor = useFactorQuery().data;
  const proof = factor?.has_password ? { password } : factor?.is_on ? { code } : {};
  const own = strongestRole(app === ALL ? grantsForAll(grants) : grantsFor(grants, Number(app)));
  const roles = ROLES.filter((role) => own !== undefined && ROLES.indexOf(role) <= ROLES.indexOf(own));
  const role = roles.includes(chosen) ? chosen : "viewer";
  const making = useMutation({
    mutationFn: () =>
      post<MadeApiToken>("api-tokens/create", {
        name,
        role,
        apps: app === ALL ? ALL : [Number(app)],
        days: Number(days),
        ...proof,
      }),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: TOKENS_KEY });
      onMade(made);
    },
  });
  const apps = [
    ...(isEverywhere ? [{ value: ALL, label: text.allApps }] : []),
    ...(data?.apps ?? []).map(({ app_id, name: label }) => ({ value: String(app_id), label: `${label} · ${app_id}` })),
  ];
  return (
    <FormDialog title={text.add} onClose={onClose} submit={{ label: text.make, disabled: !factor }} doing={making}>
      <TextField label={text.name} hint={text.nameHint} value={name} onChange={setName} maxLength={200} required />
      <SelectField label={text.apps} value={app} choices={apps} onChange={setApp} />
      <SelectField
        label={text.role}
        value={role}
        choices={roles.map((value) => ({ value, label: names[value] }))}
        onChange={(value) => setRole(value as Role)}
      />
      <TextField
        label={text.days}
        hint={text.daysHint(daysMax)}
        type="number"
        min={1}
        max={daysMax}
        value={days}
        onChange={setDays}
        required
      />
      {"password" in proof && (
        <PasswordField
          kind="current"
          label={text.password}
          hint={text.proofHint}
          value={password}
          onChange={setPassword}
        />
      )}
      {"code" in proof && <CodeField label={text.code} hint={text.proofHint} value={code} onChange={setCode} />}
    </FormDialog>
  );
}
