import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { CampaignLink, CampaignLinks, ShownCampaign } from "../../../../src/contract/setting/campaign.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { publicUrl } from "../../public-url.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useStored } from "../../stored.ts";
import { useTexts } from "../../texts.ts";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { Progress } from "../../ui/progress.tsx";
import { type LinkTexts, texts } from "./link-texts.ts";
import { sorted, usePlatforms } from "./platform-choice.tsx";

/** The links of a campaign, to be entered in the ad platform's console. */
export function LinksDialog({ campaign, onClose }: { campaign: ShownCampaign; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const baseUrl = useStored(publicUrl);
  const askedUrl = useDeferredValue(baseUrl);
  const [platform, setPlatform] = useState(campaign.ad_platform);
  const links = useQuery({
    queryKey: ["campaign-links", app.app_id, campaign.turbo_promoted_object_id, platform, askedUrl],
    queryFn: ({ signal }) => {
      const { turbo_promoted_object_id } = campaign;
      const asked = { app_id: app.app_id, turbo_promoted_object_id, ad_platform: platform, base_url: askedUrl };
      return get<CampaignLinks>("campaigns/links", asked, signal);
    },
    enabled: platform !== "",
    placeholderData: keepPreviousData,
  });
  const isAboutUrl = links.error?.message.startsWith("base_url") === true;
  return (
    <Dialog title={text.title(campaign.name || campaign.turbo_promoted_object_id)} width="wide" onClose={onClose}>
      <p className="soft">{text.about}</p>
      <div className="form-pair">
        <PlatformOfLinks value={platform} onChange={setPlatform} />
        <TextField
          label={text.baseUrl}
          hint={isReachable(baseUrl) ? text.baseUrlHint : text.baseUrlLocal}
          problem={isAboutUrl ? links.error?.message : undefined}
          value={baseUrl}
          onChange={(url) => publicUrl.write(url.trim())}
          inputMode="url"
          spellCheck={false}
        />
      </div>
      {platform === "" && <p className="notice">{text.choosePlatform}</p>}
      {links.isFetching && !links.data && <Progress />}
      {links.error && !isAboutUrl && <Failure error={links.error} onRetry={() => links.refetch()} />}
      {links.data && platform !== "" && <Links links={links.data.links} text={text} />}
    </Dialog>
  );
}

/** Whether an ad platform can call the address: it needs HTTPS, and loopback leads back to the caller. */
function isReachable(url: string): boolean {
  return /^https:\/\//.test(url) && !/^https:\/\/(?:localhost|127\.|\[::1\])/.test(url);
}

function PlatformOfLinks({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const text = useTexts(texts);
  const platformName = usePlatformName();
  const { data } = usePlatforms();
  const known = sorted(data?.platforms ?? []).map(({ name }) => name);
  const names = known.includes(value) || value === "" || value === "all" ? known : [value, ...known];
  const choices = [
    ...(value === "" ? [{ value: "", label: text.choose }] : []),
    ...names.map((name) => ({ value: name, label: platformName(name) })),
    { value: "all", label: text.all },
  ];
  return <SelectField label={text.platform} value={value} choices={choices} onChange={onChange} />;
}

function Links({ links, text }: { links: readonly CampaignLink[]; text: LinkTexts }) {
  const platformName = usePlatformName();
  if (links.length === 0) return <p className="notice">{text.noLinks}</p>;
  return links.map((link) => (
    <section key={`${link.ad_platform} ${link.kind}`} className="link-kind">
      <h3>
        {platformName(link.ad_platform)} · {text.kinds[link.kind]}
      </h3>
      <CopyBlock value={link.url} wrap />
      <Note link={link} text={text} />
      <Macros link={link} text={text} />
    </section>
  ));
}

/** What is known of the platform's macros, and what to heed there. */
function Note({ link, text }: { link: CampaignLink; text: LinkTexts }) {
  const likely = link.macros.filter(({ certainty }) => certainty === "likely").length;
  const known = likely === 0 ? text.allCertain : text.someLikely(likely);
  return <p className="soft small">{[known, text.notes[link.ad_platform] ?? ""].join(" ").trimEnd()}</p>;
}

function Macros({ link, text }: { link: CampaignLink; text: LinkTexts }) {
  const meanings: Readonly<Record<string, string>> = text.parameters;
  const meaningOf = (parameter: string) => meanings[parameter.replace(/_2$/, "")] ?? "";
  return (
    <details className="macros">
      <summary>{text.macros(link.macros.length)}</summary>
      <DataTable
        label={text.macros(link.macros.length)}
        rows={link.macros}
        keyOf={({ parameter }) => parameter}
        columns={[
          { name: "macro", title: text.macro, cell: ({ macro }) => <code>{macro}</code> },
          { name: "parameter", title: text.parameter, cell: ({ parameter }) => <code>{parameter}</code> },
          { name: "meaning", title: text.meaning, cell: ({ parameter }) => meaningOf(parameter) },
          { name: "certainty", title: text.certainty, cell: ({ certainty }) => text.certainties[certainty] },
        ]}
      />
    </details>
  );
}
