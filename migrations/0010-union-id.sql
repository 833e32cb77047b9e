-- People are looked for by their union id too. Every other id that somebody may ask for has an index already.
create index user_account_unionid on user_account (app_id, wx_unionid) where wx_unionid <> ''
