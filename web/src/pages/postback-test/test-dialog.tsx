import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { PostbackTest, PostbackTestForm } from "../../../../src/contract/admin/postback-test.ts";
import type { Account } from "../../../../src/contract/setting/account.ts";
import { get, post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Progress } from "../../ui/progress.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { isAmount, NEW_TEST, type TestDraft, testBodyOf } from "./test-draft.ts";
import { SourceFields, WhatFields } from "./test-fields.tsx";
import { TestResult } from "./test-result.tsx";
import { texts } from "./texts.ts";

type TestDialogProps = { account: Pick<Account, "ad_platform" | "advertiser_id">; onClose: () => void };

/** Sends test conversions through an account, as often as one likes, and shows each call. */
export function TestDialog({ account, onClose }: TestDialogProps) {
  const text = useTexts(texts);
  const platformName = usePlatformName();
  const { ad_platform, advertiser_id } = account;
  const { app_id } = useApp();
  const form = useQuery({
    queryKey: ["postback/test", app_id, ad_platform],
    queryFn: ({ signal }) => get<PostbackTestForm>("postback/test", { app_id, ad_platform }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog
      title={text.title(`${platformName(ad_platform)} ${advertiser_id}`.trimEnd())}
      width="wide"
      onClose={onClose}
    >
      <p className="soft">{text.about}</p>
      <QueryView query={form}>{(known) => <TestPanel account={account} form={known} onClose={onClose} />}</QueryView>
    </Dialog>
  );
}

function TestPanel({ account, form, onClose }: TestDialogProps & { form: PostbackTestForm }) {
  const text = useTexts(texts);
  const app = useApp();
  const [draft, setDraft] = useState<TestDraft>({ ...NEW_TEST, key: form.keys[0] ?? "" });
  const change = (changes: Partial<TestDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const { ad_platform, advertiser_id } = account;
  const testing = useMutation({
    mutationFn: () =>
      post<PostbackTest>("postback/test", { app_id: app.app_id, ad_platform, advertiser_id, ...testBodyOf(draft) }),
  });
  return (
    <>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          testing.mutate();
        }}
      >
        <WhatFields draft={draft} onChange={change} />
        <SourceFields draft={draft} onChange={change} form={form} />
        <div className="row end">
          <Button onClick={onClose}>{text.close}</Button>
          <Button type="submit" look="main" disabled={testing.isPending || !isAmount(draft.amount)}>
            {text.send}
          </Button>
        </div>
      </form>
      {testing.isPending && <Progress label={text.sending} />}
      {testing.error && !testing.isPending && <Failure error={testing.error} />}
      {testing.data && !testing.isPending && <TestResult key={testing.data.test_id} test={testing.data} />}
    </>
  );
}
