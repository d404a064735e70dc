import EssentialsRequests

/// Entity caches at stages of the pipeline.
extension ResourcePipeline {
    /// Stores the bytes after a stage in a cache, and begins with the stored ones before a request is sent.
    ///
    /// ```swift
    /// try service.configure("/reports/*", methods: [.get]) { $0.pipeline.cache(in: cache, at: .decoding) }
    /// ```
    ///
    /// Content that is not `Data` after the stage is not stored. A stage has one cache; a second one replaces it. If
    /// several stages have caches, the cache of the last stage is read first. The stages that follow are run on its
    /// entity, and a failure there counts like a missing entity.
    public mutating func cache(in cache: any EntityCache, at stage: PipelineStage) {
        caches[stage] = StageCache(cache, stage)
    }

    /// Stores the value after a stage in a cache as JSON, and begins with the stored one before a request is sent; see
    /// ``cache(in:at:)``.
    ///
    /// - Parameters:
    ///   - type: The type of the value. Other content is not stored.
    ///   - cache: The cache.
    ///   - stage: The stage that gives the value.
    ///   - schema: The version of the type's encoding. Increase it if the type changes, so that older entities are not
    ///     found.
    public mutating func cache<Model: Codable & Sendable>(
        _ type: Model.Type, in cache: any EntityCache, at stage: PipelineStage, schema: UInt32 = 0
    ) {
        caches[stage] = StageCache(type, cache, stage, schema)
    }

    /// Removes the caches of all stages. ``ResourceConfiguration/usesServiceCache`` decides whether the service's own
    /// cache is used.
    public mutating func removeCaches() { caches = [:] }
}
