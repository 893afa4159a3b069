BEGIN TRANSACTION;
CREATE TABLE accounts_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT accounts_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "accounts_version" VALUES('0003');
CREATE TABLE alert_marks (
	name VARCHAR(255) NOT NULL, 
	seq BIGINT NOT NULL, 
	owner VARCHAR(255), 
	until BIGINT, 
	PRIMARY KEY (name)
);
CREATE TABLE alert_messages (
	alert_id VARCHAR(20) NOT NULL, 
	thing VARCHAR(255) NOT NULL, 
	article_id VARCHAR(20) NOT NULL, 
	title TEXT NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	found BIGINT NOT NULL, 
	due BIGINT NOT NULL, 
	claim VARCHAR(32), 
	tries INTEGER NOT NULL, 
	reason TEXT, 
	changed BIGINT NOT NULL, 
	PRIMARY KEY (alert_id, thing)
);
CREATE TABLE alerts (
	id VARCHAR(20) NOT NULL, 
	person_id VARCHAR(20) NOT NULL, 
	enabled BOOLEAN NOT NULL, 
	created BIGINT NOT NULL, 
	"after" BIGINT NOT NULL, 
	settings JSON NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE attempts (
	"key" VARCHAR(64) NOT NULL, 
	failed INTEGER NOT NULL, 
	last BIGINT NOT NULL, 
	trusted BIGINT, 
	until BIGINT NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE caught_up (
	person_id VARCHAR(20) NOT NULL, 
	topic VARCHAR(255) NOT NULL, 
	at BIGINT NOT NULL, 
	"before" BIGINT, 
	PRIMARY KEY (person_id, topic)
);
CREATE TABLE feed_keys (
	person_id VARCHAR(20) NOT NULL, 
	secret VARCHAR(64) NOT NULL, 
	PRIMARY KEY (person_id), 
	UNIQUE (secret)
);
CREATE TABLE followed (
	name VARCHAR(255) NOT NULL, 
	position BIGINT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE marks (
	person_id VARCHAR(20) NOT NULL, 
	story_id VARCHAR(20) NOT NULL, 
	read BOOLEAN, 
	starred BIGINT, 
	at BIGINT NOT NULL, 
	PRIMARY KEY (person_id, story_id)
);
INSERT INTO "marks" VALUES('6c45d90f9d790d26ca87','story',NULL,1772352000000000,1772352000000000);
CREATE TABLE people (
	id VARCHAR(20) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	named VARCHAR(255) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	password VARCHAR(255) NOT NULL, 
	created BIGINT NOT NULL, 
	disabled BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (named)
);
INSERT INTO "people" VALUES('6c45d90f9d790d26ca87','林','林','editor','$argon2id$v=19$m=8,t=1,p=1$ZUFopeVgPjikNitF1fjyQg$xyu4Pn21lYzrHawEBoxgUAQA5TideHguh1w0KTvKiZQ',1772352000000000,0);
CREATE TABLE searches (
	id VARCHAR(20) NOT NULL, 
	person_id VARCHAR(20) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	asked TEXT NOT NULL, 
	created BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE sessions (
	digest VARCHAR(64) NOT NULL, 
	person_id VARCHAR(20) NOT NULL, 
	begun BIGINT NOT NULL, 
	seen BIGINT NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	agent VARCHAR(200) NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE tokens (
	id VARCHAR(20) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	person_id VARCHAR(20) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	rights JSON NOT NULL, 
	created BIGINT NOT NULL, 
	expires BIGINT, 
	used BIGINT, 
	PRIMARY KEY (id), 
	UNIQUE (digest)
);
CREATE TABLE trail (
	seq INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	person_id VARCHAR(20), 
	person VARCHAR(255) NOT NULL, 
	way VARCHAR(16) NOT NULL, 
	action VARCHAR(64) NOT NULL, 
	thing TEXT NOT NULL, 
	details JSON NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "trail" VALUES(1,1772352000000000,NULL,'','command','source.add','','{}','');
CREATE INDEX ix_alert_messages_changed ON alert_messages (alert_id, changed);
CREATE INDEX ix_alert_messages_state ON alert_messages (state, due);
CREATE INDEX ix_alert_messages_article_id ON alert_messages (alert_id, article_id);
CREATE INDEX ix_alerts_person_id ON alerts (person_id);
CREATE INDEX ix_attempts_until ON attempts (until);
CREATE INDEX ix_marks_person_id_at ON marks (person_id, at);
CREATE INDEX ix_marks_story_id ON marks (story_id);
CREATE INDEX ix_marks_person_id_starred ON marks (person_id, starred);
CREATE INDEX ix_searches_person_id ON searches (person_id);
CREATE INDEX ix_sessions_person_id ON sessions (person_id);
CREATE INDEX ix_tokens_person_id ON tokens (person_id);
CREATE INDEX ix_trail_person_seq ON trail (person, seq);
CREATE INDEX ix_trail_at ON trail (at);
COMMIT;
