-- A user who returned more than once keeps the source before the last return, as JSON. Its campaign is called campaignId
-- there now, as everywhere in the program.
update user_account
set returned = jsonb_set(returned #- '{earlier,source,turboPromotedObjectId}', '{earlier,source,campaignId}',
  returned #> '{earlier,source,turboPromotedObjectId}')
where returned #> '{earlier,source}' ? 'turboPromotedObjectId'
