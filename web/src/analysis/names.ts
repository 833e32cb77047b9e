import type { ShownMetadata } from "../../../src/contract/setting/metadata.ts";

/** Events and properties that an app is known to have. */
export type KnownNames = { events: readonly string[]; properties: ShownMetadata["properties"] };

/** Events that every client SDK sends by itself, so that no app declares them. A test compares them with the server's. */
export const PRESET_EVENTS: readonly string[] = [
  ...["$MPLaunch", "$MPShow", "$MPHide", "$MPhide", "$MPShare", "$MPViewScreen", "$MPAddFavorites"],
  ...["$MPRegister", "$MPLogin", "$MPLogout", "$AppRegister", "$AppLogin", "$AppLogout"],
  ...["$AppInstall", "$AppStart", "$AppEnd", "$AppView", "$AppClick", "$AppCrash", "$AppBgStart"],
  ...["$WebPageView", "$WebPageHide", "$SceneLoaded", "$SceneUnloaded"],
  ...["$PayEvent", "$RefundEvent", "$UserWithdraw", "$BindThirdPlatform", "$UserFirstRegister"],
  ...["$AdLoad", "$AdShow", "$AdSkip", "$AdClick", "$AdPlayStart", "$AdPlayEnd"],
];
