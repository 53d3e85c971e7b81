-- Functions that look across projects run as the owner of the tables, who is bound by row-level security unless it is a
-- superuser: without these, an owner that is none found no thread to embed anew and nothing that expired.
CREATE POLICY "owner_reads_all" ON "heddle"."vector_threads" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."context_lines" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."context_deliveries" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."snapshots" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."context_items" FOR SELECT TO CURRENT_USER USING (true);
