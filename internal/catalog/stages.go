package catalog

// firstStages is the first round: what decides which relations are wanted.
func (r *reader) firstStages() []stage {
	return []stage{
		r.rolesStage(),
		r.extensionsStage(), // also the membership of every object
		r.schemasStage(),
		r.tablesStage(),
	}
}

// stages is the second round. The order is that of the dump IDs.
func (r *reader) stages() []stage {
	return []stage{
		r.ownedSequencesStage(),
		r.funcsStage(),
		r.typesStage(),
		r.languagesStage(),
		r.aggregatesStage(),
		r.operatorsStage(),
		r.accessMethodsStage(),
		r.opclassesStage(),
		r.opfamiliesStage(),
		r.tsParsersStage(),
		r.tsTemplatesStage(),
		r.tsDictsStage(),
		r.tsConfigsStage(),
		r.fdwsStage(),
		r.foreignServersStage(),
		r.defaultACLsStage(),
		r.collationsStage(),
		r.conversionsStage(),
		r.castsStage(),
		r.transformsStage(),
		r.inheritanceStage(),
		r.eventTriggersStage(),
		r.extensionConfigStage(),
		r.columnsStage(),
		r.attrDefsStage(),
		r.checkConstraintsStage(),
		r.partitionsStage(),
		r.indexesStage(),
		r.statsExtStage(),
		r.constraintsStage(), // foreign keys, and the constraints of domains
		r.triggersStage(),
		r.rulesStage(),
		r.viewsStage(),
		r.policiesStage(),
		r.publicationsStage(),
		r.publicationRelsStage(),
		r.publicationSchemasStage(),
		r.subscriptionsStage(),
		r.subscriptionRelsStage(),
		r.tableDataStage(),
		r.sequencesStage(),
		r.relStatsStage(),
		r.upgradeStage(),
		r.largeObjectsStage(),
		r.databaseStage(),
		r.roleDetailsStage(),
		r.unknownStage(),
		r.dependsStage(),
		// what is looked up by object, after all objects are known
		r.initPrivsStage(),
		r.columnACLsStage(),
		r.commentsStage(),
		r.secLabelsStage(),
		r.selfCheckStage(),
	}
}
