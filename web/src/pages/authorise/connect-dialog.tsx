import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Account, AccountFields } from "../../../../src/contract/setting/account.ts";
import type { AuthoriseForm, BegunAuthorisation } from "../../../../src/contract/setting/authorisation.ts";
import { get, post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { FormDialog } from "../../ui/dialog.tsx";
import { SelectField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { NamedField } from "../cost/account-fields.tsx";
import { texts } from "./texts.ts";

const OTHER = "…";

type ConnectProps = { accounts: readonly Account[]; onClose: () => void };

/** Begins an authorisation and leaves the console for the platform's page, which sends the person back. */
export function ConnectDialog({ accounts, onClose }: ConnectProps) {
  const text = useTexts(texts).form;
  const form = useQuery({
    queryKey: ["accounts/authorise"],
    queryFn: ({ signal }) => get<AuthoriseForm>("accounts/authorise", {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [platform, setPlatform] = useState("");
  const [like, setLike] = useState<string>();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const app = useApp();
  const chosen = platform || firstPlatform(form.data?.platforms ?? [], accounts);
  const usable = accounts.filter(({ ad_platform, secrets }) => ad_platform === chosen && hasApplication(secrets));
  const from = like ?? usable[0]?.advertiser_id ?? OTHER;
  const fields = useFields(chosen, form.data);
  const begin = useMutation({
    mutationFn: () =>
      post<BegunAuthorisation>("accounts/authorise", {
        app_id: app.app_id,
        ad_platform: chosen,
        base_url: location.origin,
        ...(from === OTHER ? typed(fields, values) : { advertiser_id: from }),
      }),
    onSuccess: ({ url }) => location.assign(url),
  });
  const choose = (name: string) => {
    setPlatform(name);
    setLike(undefined);
    setValues({});
  };
  return (
    <FormDialog
      title={text.title}
      submit={{ label: text.submit, disabled: !form.data }}
      doing={begin}
      onClose={onClose}
    >
      <QueryView query={form}>
        {({ platforms, redirect_path }) => (
          <>
            <p className="soft">{text.about}</p>
            <PlatformField platforms={platforms} value={chosen} onChange={choose} />
            <div className="field">
              <span className="label">{text.redirect}</span>
              <CopyBlock value={location.origin + redirect_path} wrap />
              <span className="hint">{text.redirectHint}</span>
            </div>
            {usable.length > 0 && <ApplicationField accounts={usable} value={from} onChange={setLike} />}
            {from === OTHER &&
              fields.map((field) => (
                <NamedField
                  key={field.name}
                  field={field}
                  value={values[field.name] ?? ""}
                  onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
                />
              ))}
          </>
        )}
      </QueryView>
    </FormDialog>
  );
}

/** The platform of an account that can lend its application, as when somebody authorises again. */
function firstPlatform(platforms: AuthoriseForm["platforms"], accounts: readonly Account[]): string {
  const names = platforms.map(({ ad_platform }) => ad_platform);
  const lender = accounts.find(({ ad_platform, secrets }) => names.includes(ad_platform) && hasApplication(secrets));
  return lender?.ad_platform ?? names[0] ?? "";
}

/** Accounts that were connected before hold the secret of a developer application. */
function hasApplication(secrets: readonly string[]): boolean {
  return secrets.includes("app_secret") || secrets.includes("client_secret");
}

type Fields = AccountFields["fields"];

function useFields(platform: string, form: AuthoriseForm | undefined): Fields {
  const names = form?.platforms.find(({ ad_platform }) => ad_platform === platform)?.fields ?? [];
  const described = useQuery({
    queryKey: ["account-fields", platform],
    queryFn: ({ signal }) => get<AccountFields>("accounts/fields", { ad_platform: platform }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: platform !== "",
  });
  return names.flatMap((name) => described.data?.fields.filter((field) => field.name === name) ?? []);
}

function typed(fields: Fields, values: Readonly<Record<string, string>>) {
  const of = (isSecret: boolean) =>
    Object.fromEntries(
      fields.filter(({ secret }) => secret === isSecret).map(({ name }) => [name, (values[name] ?? "").trim()]),
    );
  return { settings: of(false), secrets: of(true) };
}

type PlatformFieldProps = {
  platforms: AuthoriseForm["platforms"];
  value: string;
  onChange: (platform: string) => void;
};

function PlatformField({ platforms, value, onChange }: PlatformFieldProps) {
  const text = useTexts(texts).form;
  const platformName = usePlatformName();
  const choices = platforms.map(({ ad_platform }) => ({ value: ad_platform, label: platformName(ad_platform) }));
  return <SelectField label={text.platform} value={value} choices={choices} onChange={onChange} />;
}

type ApplicationFieldProps = { accounts: readonly Account[]; value: string; onChange: (advertiser: string) => void };

function ApplicationField({ accounts, value, onChange }: ApplicationFieldProps) {
  const text = useTexts(texts).form;
  const choices = [
    ...accounts.map(({ advertiser_id }) => ({ value: advertiser_id, label: text.ofAccount(advertiser_id || "*") })),
    { value: OTHER, label: text.other },
  ];
  return <SelectField label={text.application} value={value} choices={choices} onChange={onChange} />;
}
