/**
 * The checksum of every migration (src/db/engine/migrate.ts). Existing databases were made with these very files: a change
 * goes into a new file, which gets its own line here.
 */
export const LANDED_MIGRATIONS: Readonly<Record<string, string>> = {
  "0001-foundation.sql": "d2f21b42a536929977fbbe113a2dfb4be7b540a18d84ac9d341ca767a631511f",
  "0002-attribution.sql": "619b594ddd245e8af37a388e1ec61d4ff8daca0e6d7da4c225af0a66ad46f618",
  "0003-reports.sql": "a973dbb6479d5a688bcc0a1121f3bb949f01fb10ed93314841298191fd4ab0e5",
  "0004-report.sql": "0cce0ccf694cd5c84565f79d6e09b5e28932f08d6836bd32b9d36b5e71bd1159",
  "0005-postback.sql": "25ff504b7eae67ca676ddf290bf4553107ba611d183e43c33780b8d96df57ead",
  "0006-console.sql": "0da4c3bdfe49c2a75154b19129a65e287c1aa859229f4d6aecf418e76bf2f104",
  "0007-erased-user.sql": "abb16eb9950734c8d09ff1b5b2d082d701d5f4719c36f96d2bcd901620fab734",
  "0008-checklist.sql": "3b870c024aa757d501e6c56b67eafbcc6f36a4c546d30f57a134442c2d3615e0",
  "0009-report-view.sql": "b34303ced945e4a4f17b2e26d614ccf3075ea529a94b46220088924ad16e3bed",
  "0010-union-id.sql": "b1a26c1715ee5cf93ed8f5401f604f91b0f80a329160567f31b1b0868e706fe0",
  "0011-orders-without-rate.sql": "9be5d77b4fd822f35309539da2c198549d74267db4cc2a709981117bc52a8f4d",
  "0012-promotion.sql": "26d9226082c3162ffd0f421a322be4dc1567355ced7723ae9f40422a8ad3b4b3",
  "0013-event-parts.sql": "c980cd25a9918c422752ed80e8249dedcd6fe102fd5e8378c6fdd35dd5a7c9c2",
  "0014-apply-holder.sql": "177e883eb2cee311f32834a24cc3272e2baf81e90567b41baa8a7a029e728c7d",
  "0015-installation.sql": "66749f266b812985791ad75789762f62496887cd264176fa72401f77e9b5b061",
  "0016-profile-size.sql": "f1163730bcef67f7b790ba09d24f30ee43617d3fa36f557b34306947b4e4a4dc",
  "0017-campaign-id.sql": "0a3f99c271513f4f4f086cbf61a4c8a49eaf84826e78b0a7a820029eb6f4e4aa",
  "0018-cohort.sql": "c529da4d3574c7144cbda766a4e1228ca253e8f97b81d6ddda636e31354ecad7",
  "0019-earlier-postback.sql": "ae5bba8705e9cbf52ea13d2e5f1b37c6921ce0977cfb0613260256f9ce79d85c",
  "0020-cost-total.sql": "c91ccbcef083aba0b68c98ed8201c8fd4a60b8dd6b9b063a361c800d4ae14c49",
  "0021-postback-code.sql": "ad0607a2e7b5b5e7d2958c1c6fc7df770b69f090d1c90890b9a811509ea78711",
  "0022-rebate.sql": "b6cec9598c7b666adfcc455e03c4cc59c3f579f3aa6f58290b15de992e5c8919",
  "0023-ad-account.sql": "4dd1ffa73ad71755f618c6845c017289f92b42712ba6796253f2a71d8fba996a",
  "0024-refund.sql": "74146b6ea386399c378a8ea2ccdee52204d94cef36a54364c807a4d065f20b3e",
};
