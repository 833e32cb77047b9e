import { type AppRules, loadAppRules } from "../../db/app.ts";
import { loadRuleSettings } from "../../db/attribution-setting.ts";
import { loadCallbackWishes } from "../../db/callback.ts";
import { loadDeclaredPlatforms } from "../../db/declared-connector.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadReaches } from "../../db/platform-account.ts";
import { loadPostbackRules } from "../../db/postback-rule.ts";
import { RuleBook } from "../../domain/attribution/attribution-rules.ts";
import { type Calendar, calendarOf } from "../../domain/calendar.ts";
import { PostbackBook } from "../../domain/postback/postback-book.ts";
import { postbackConnectorOf } from "../../platform/registry.ts";

/** `rules`: how users are attributed. `book`: what the app reports to whom; undefined when it reports nothing. */
export type AppSetting = AppRules & { calendar: Calendar; rules: RuleBook; book: PostbackBook | undefined };

/** The settings of a batch's apps, loaded once, so that the same settings apply to the whole batch. */
export class AppSettings {
  readonly #apps: ReadonlyMap<number, AppSetting>;

  private constructor(apps: ReadonlyMap<number, AppSetting>) {
    this.#apps = apps;
  }

  static async load(executor: Executor, appIds: readonly number[]): Promise<AppSettings> {
    const apps = await loadAppRules(executor, appIds);
    const settings = await loadRuleSettings(executor, appIds);
    const books = await loadBooks(executor, appIds);
    const settingOf = (app: AppRules): AppSetting => ({
      ...app,
      calendar: calendarOf(app.timeZone),
      rules: new RuleBook(settings.filter((setting) => setting.appId === app.appId)),
      book: books.get(app.appId),
    });
    return new AppSettings(new Map(apps.map((app) => [app.appId, settingOf(app)])));
  }

  /** Throws when the app does not exist, because its entries cannot be applied. */
  of(appId: number): AppSetting {
    const app = this.#apps.get(appId);
    if (!app) throw new Error(`There is no app ${appId}.`);
    return app;
  }

  find(appId: number): AppSetting | undefined {
    return this.#apps.get(appId);
  }

  /** Whether any of the apps sends postbacks or callbacks. */
  hasBooks(): boolean {
    return [...this.#apps.values()].some(({ book }) => book);
  }
}

async function loadBooks(executor: Executor, appIds: readonly number[]): Promise<Map<number, PostbackBook>> {
  const accounts = await loadReaches(executor, appIds);
  const wishes = await loadCallbackWishes(executor, appIds);
  const telling = [...new Set([...accounts, ...wishes].map(({ appId }) => appId))];
  const rules = await loadPostbackRules(executor, telling);
  const declared = telling.length === 0 ? [] : await loadDeclaredPlatforms(executor, telling);
  return new Map(
    telling.map((appId) => {
      const own = wishes.filter((wish) => wish.appId === appId);
      const declares = new Set(declared.filter((one) => one.appId === appId).map(({ adPlatform }) => adPlatform));
      const book = new PostbackBook({
        appId,
        rules: rules.filter((rule) => rule.appId === appId),
        accounts: accounts.filter((account) => account.appId === appId),
        own: {
          attribution: own.some(({ kind }) => kind === "attribution"),
          events: new Set(own.flatMap(({ kind, events }) => (kind === "event" ? events : []))),
        },
        takesPostbacks: (platform) => postbackConnectorOf(platform) !== undefined || declares.has(platform),
      });
      return [appId, book];
    }),
  );
}
