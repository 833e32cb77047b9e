import type { Role, ShownGrant } from "../../../../src/contract/setting/session.ts";
import { useApps } from "../../chosen-app.tsx";
import { ROLE_NAMES, ROLES } from "../../role-name.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

const ALL = "all";

type GrantsFieldProps = { grants: readonly ShownGrant[]; onChange: (grants: ShownGrant[]) => void };

/** Roles for all apps, or app by app. */
export function GrantsField({ grants, onChange }: GrantsFieldProps) {
  const text = useTexts(texts);
  const { data } = useApps();
  const taken = new Set(grants.map(({ app_id }) => app_id));
  const free = [null, ...(data?.apps ?? []).map(({ app_id }) => app_id)].find((app_id) => !taken.has(app_id));
  const change = (index: number, changed: ShownGrant) =>
    onChange(grants.map((one, at) => (at === index ? changed : one)));
  return (
    <div className="stack tight">
      {grants.map((grant, index) => (
        <GrantRow
          key={grant.app_id ?? ALL}
          grant={grant}
          others={taken}
          onChange={(changed) => change(index, changed)}
          onRemove={grants.length > 1 ? () => onChange(grants.filter((_, at) => at !== index)) : undefined}
        />
      ))}
      {free !== undefined && (
        <div>
          <Button size="small" onClick={() => onChange([...grants, { app_id: free, role: "viewer" }])}>
            {text.addRole}
          </Button>
        </div>
      )}
    </div>
  );
}

type GrantRowProps = {
  grant: ShownGrant;
  others: ReadonlySet<number | null>;
  onChange: (grant: ShownGrant) => void;
  onRemove: (() => void) | undefined;
};

function GrantRow({ grant: { app_id, role }, others, onChange, onRemove }: GrantRowProps) {
  const text = useTexts(texts);
  const names = useTexts(ROLE_NAMES);
  const { data } = useApps();
  const apps = (data?.apps ?? []).filter((app) => app.app_id === app_id || !others.has(app.app_id));
  const all = app_id === null || !others.has(null) ? [{ value: ALL, label: text.allApps }] : [];
  const gone = app_id !== null && data && !apps.some((app) => app.app_id === app_id);
  const choices = [
    ...all,
    ...apps.map((app) => ({ value: String(app.app_id), label: `${app.name} · ${app.app_id}` })),
    ...(gone ? [{ value: String(app_id), label: String(app_id) }] : []),
  ];
  return (
    <div className="grant-row">
      <SelectField
        label={text.apps}
        value={app_id === null ? ALL : String(app_id)}
        choices={choices}
        onChange={(value) => onChange({ app_id: value === ALL ? null : Number(value), role })}
      />
      <SelectField
        label={text.role}
        hint={text.roleText[role]}
        value={role}
        choices={ROLES.map((value) => ({ value, label: names[value] }))}
        onChange={(value) => onChange({ app_id, role: value as Role })}
      />
      {onRemove && (
        <Button size="small" look="quiet" onClick={onRemove}>
          {text.removeRole}
        </Button>
      )}
    </div>
  );
}
