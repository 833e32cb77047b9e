import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { CampaignList, ShownCampaign } from "../../../../src/contract/setting/campaign.ts";
import { get, post, queries } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyBlock, CopyButton } from "../../ui/copy-block.tsx";
import { Failure } from "../../ui/failure.tsx";
import { SelectField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useUrlState } from "../../url-state.ts";
import { PlayerResult } from "./player-result.tsx";
import { SdkList } from "./sdk-list.tsx";
import { programOf, SNIPPET_LANGUAGES, type SnippetLanguage, type SnippetValues, snippetOf } from "./snippets.ts";
import { texts } from "./texts.ts";

/** The platform for campaigns that name none: its key is the one that most mini-games receive. */
const USUAL_PLATFORM = "tencent";
const SDK = "sdk";
/** The newest campaigns; beginners have just created theirs. */
const CAMPAIGNS_OFFERED = 100;

const campaignsKey = (appId: number) => ["campaigns", appId] as const;

/** Only this form is accepted from the address, because it is written into programs. */
const PLAYER = /^test-[a-z0-9]{1,12}$/;

function newPlayer(): string {
  return `test-${Math.random().toString(36).slice(2, 8)}`;
}

export function TryIt() {
  const text = useTexts(texts);
  const app = useApp();
  const [fallback] = useState(newPlayer);
  const [{ campaign: wanted, lang, player: named }, change] = useUrlState({ campaign: "", lang: "curl", player: "" });
  const player = PLAYER.test(named) ? named : fallback;
  // Kept in the address, so that a reload shows the same player.
  useEffect(() => {
    if (named !== player) change({ player });
  }, [named, player, change]);
  const campaigns = useQuery({
    queryKey: [...campaignsKey(app.app_id), "to be clicked"],
    queryFn: () => get<CampaignList>("campaigns", { app_id: app.app_id, page_size: CAMPAIGNS_OFFERED }),
  });
  const tabs = [...SNIPPET_LANGUAGES, SDK].map((name) => ({ name, title: text.languages[name as "sdk"] }));
  const chosen = tabs.some(({ name }) => name === lang) ? lang : "curl";
  return (
    <section className="card">
      <h2>{text.tryIt}</h2>
      <QueryView query={campaigns}>
        {({ campaigns: all }) => {
          const campaign = all.find((one) => one.turbo_promoted_object_id === wanted) ?? all[0];
          if (!campaign) return <NoCampaign />;
          const values: SnippetValues = {
            baseUrl: location.origin,
            appId: app.app_id,
            accessToken: app.access_token,
            player,
            currency: app.currency,
            metadata: app.metadata,
            campaignId: campaign.turbo_promoted_object_id,
            adPlatform: campaign.ad_platform || USUAL_PLATFORM,
          };
          return (
            <div className="stack">
              <p className="soft">{text.tryItAbout(player)}</p>
              <div className="row fields">
                <SelectField
                  label={text.campaign}
                  value={campaign.turbo_promoted_object_id}
                  choices={all.map((one) => ({ value: one.turbo_promoted_object_id, label: labelOf(one) }))}
                  onChange={(id) => change({ campaign: id })}
                />
                <Button onClick={() => change({ player: newPlayer() })}>{text.newPlayer}</Button>
              </div>
              <Tabs tabs={tabs} chosen={chosen} onChoose={(name) => change({ lang: name })}>
                {chosen === SDK ? <SdkList /> : <Snippets language={chosen as SnippetLanguage} values={values} />}
              </Tabs>
              {chosen !== SDK && <PlayerResult player={player} />}
            </div>
          );
        }}
      </QueryView>
    </section>
  );
}

function labelOf({ name, ad_platform, turbo_promoted_object_id }: ShownCampaign): string {
  return [name || turbo_promoted_object_id, ad_platform].filter((part) => part !== "").join(" · ");
}

function Snippets({ language, values }: { language: SnippetLanguage; values: SnippetValues }) {
  const text = useTexts(texts);
  const blocks = snippetOf(language, values, text.comments);
  return (
    <>
      <div className="row apart">
        <span className="soft small">{text.runs[language]}</span>
        <CopyButton value={programOf(blocks)} label={text.copyAll} />
      </div>
      {blocks.map(({ step, code }) => (
        <section key={step} className="stack tight">
          <h3>{text.pieces[step]}</h3>
          <CopyBlock value={code} wrap={language === "curl"} />
        </section>
      ))}
    </>
  );
}

function NoCampaign() {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const mayChange = useMay("setting");
  const making = useMutation({
    mutationFn: () => post("campaigns/create", { app_id, name: text.testCampaign, ad_platform: USUAL_PLATFORM }),
    onSuccess: () => queries.invalidateQueries({ queryKey: campaignsKey(app_id) }),
  });
  return (
    <div className="stack">
      <p>{text.noCampaign}</p>
      {making.error && <Failure error={making.error} />}
      {mayChange ? (
        <div>
          <Button look="main" disabled={making.isPending} onClick={() => making.mutate()}>
            {text.makeCampaign}
          </Button>
        </div>
      ) : (
        <p className="soft">{text.noCampaignAnalyst}</p>
      )}
    </div>
  );
}
