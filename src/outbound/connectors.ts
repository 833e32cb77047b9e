import { loadDeclarations, type StoredDeclaration } from "../db/declared-connector.ts";
import type { Executor } from "../db/engine/sql.ts";
import { ApiError } from "../errors.ts";
import type { PostbackConnector } from "../platform/connector/connector.ts";
import { CODED, Connectors } from "../platform/connectors.ts";
import { declaredConnector } from "../platform/declared/connector.ts";
import { readDeclaration } from "../platform/declared/declaration.ts";

/** The connectors of an app. */
export async function loadConnectors(executor: Executor, appId: number): Promise<Connectors> {
  return connectorsOf(await loadDeclarations(executor, appId));
}

/** The connectors of all apps, by app. */
export async function loadAllConnectors(executor: Executor): Promise<(appId: number) => Connectors> {
  const stored = await loadDeclarations(executor);
  const appIds = [...new Set(stored.map(({ appId }) => appId))];
  const connectors = new Map(
    appIds.map((appId) => [appId, connectorsOf(stored.filter((one) => one.appId === appId))] as const),
  );
  return (appId) => connectors.get(appId) ?? CODED;
}

function connectorsOf(stored: readonly StoredDeclaration[]): Connectors {
  return new Connectors(
    new Map(
      stored.flatMap((one) => {
        const connector = connectorOf(one);
        return connector ? [[one.adPlatform, connector] as const] : [];
      }),
    ),
  );
}

/**
 * Undefined when this version refuses what another one has stored: the platform's postbacks wait, and all others are
 * sent. The addresses were checked when they were declared, and are checked again by each call.
 */
function connectorOf({ declaration }: StoredDeclaration): PostbackConnector | undefined {
  try {
    return declaredConnector(readDeclaration(declaration, { mayCallPrivate: true }));
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
