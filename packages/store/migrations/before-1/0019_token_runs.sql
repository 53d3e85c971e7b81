-- Each count becomes a run of one message. The table is written anew; it is small beside the messages.
ALTER TABLE "heddle"."message_tokens" ALTER COLUMN "tokens" SET DATA TYPE integer[] USING array["tokens"];
