import { useQuery } from "@tanstack/react-query";
import type { AccountField, AccountFields } from "../../../../src/contract/setting/account.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useLanguage, useTexts } from "../../texts.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import type { FieldsProps } from "./account-draft.ts";
import { FIELD_TEXTS } from "./account-field-texts.ts";
import { ACCOUNT_FIELDS } from "./account-query.ts";
import { texts } from "./account-texts.ts";

type PlatformFieldsProps = FieldsProps & { known: readonly string[] };

/** The fields that the platform's connectors ask for. Optional ones with a default are folded away. */
export function PlatformFields({ draft, known, onChange }: PlatformFieldsProps) {
  const text = useTexts(texts).form;
  const { app_id } = useApp();
  const described = useQuery({
    queryKey: [ACCOUNT_FIELDS, app_id, draft.platform],
    queryFn: ({ signal }) => get<AccountFields>("accounts/fields", { app_id, ad_platform: draft.platform }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isUsed = (field: AccountField) =>
    (draft.postbacks && field.for.includes("postbacks")) || (draft.costs && field.for.includes("costs"));
  const settingOf = (field: AccountField) => (
    <SettingField
      key={field.name}
      field={field}
      value={draft.settings[field.name] ?? ""}
      onChange={(value) => onChange({ settings: { ...draft.settings, [field.name]: value } })}
    />
  );
  return (
    <QueryView query={described}>
      {({ fields }) => {
        const used = fields.filter(isUsed);
        const own = used.filter(({ secret, fallback }) => !secret && fallback === "");
        const others = used.filter(({ secret, fallback }) => !secret && fallback !== "");
        return (
          <>
            <div className="form-pair account-fields">
              {used
                .filter(({ secret }) => secret)
                .map((field) => (
                  <SecretField
                    key={field.name}
                    field={field}
                    isSet={known.includes(field.name)}
                    value={draft.secrets[field.name] ?? ""}
                    onChange={(value) => onChange({ secrets: { ...draft.secrets, [field.name]: value } })}
                  />
                ))}
              {own.map(settingOf)}
            </div>
            {others.length > 0 && (
              <details className="account-defaults">
                <summary>{text.defaults(others.length)}</summary>
                <div className="form-pair account-fields">{others.map(settingOf)}</div>
              </details>
            )}
          </>
        );
      }}
    </QueryView>
  );
}

function useWords({ name, hint }: AccountField): { label: string; hint: string } {
  const language = useLanguage();
  const words = FIELD_TEXTS[name];
  return {
    label: words ? `${words[language]} · ${name}` : name,
    hint: language === "zh" && words ? words.zhHint : hint,
  };
}

/** A field as it is typed anew. */
export function NamedField(props: FieldProps) {
  return props.field.secret ? <SecretField isSet={false} {...props} /> : <SettingField {...props} />;
}

type FieldProps = { field: AccountField; value: string; onChange: (value: string) => void };

function SettingField({ field, ...rest }: FieldProps) {
  return <TextField {...useWords(field)} placeholder={field.fallback} spellCheck={false} {...rest} />;
}

/** A private key has several lines and does not fit into a single-line input. */
function SecretField({ field, isSet, ...rest }: FieldProps & { isSet: boolean }) {
  const text = useTexts(texts).form;
  const { label, hint } = useWords(field);
  const shown = { label, hint: `${hint} ${isSet ? text.secretSet : text.secretUnset}`, ...rest };
  if (field.name === "private_key") return <TextArea {...shown} rows={3} autoComplete="off" spellCheck={false} />;
  return <TextField {...shown} type="password" autoComplete="off" />;
}
