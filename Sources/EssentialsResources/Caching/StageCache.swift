import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// A cache at a stage of a pipeline, and the encoding of its entities.
struct StageCache: Sendable {
    /// An entity that a pass through the pipeline has produced at the stage.
    struct Output: Sendable {
        let cache: StageCache
        /// The bytes; `nil` if the content could not be stored.
        let body: Data?
        let mediaType: String?
        let headerFields: HTTPFields
        let status: Int
    }

    let cache: any EntityCache
    let stage: PipelineStage
    /// The name of the stored type.
    let type: String
    let schema: UInt32
    /// Whether the name of the type will be different at the next start of the program, so that the entities could not
    /// be found again. Nothing is then stored.
    let isNameless: Bool
    /// Encodes the content; `nil` if it has another type or cannot be encoded.
    let encode: @Sendable (any Sendable) -> Data?
    /// Decodes the content.
    let decode: @Sendable (Data) throws -> any Sendable

    /// A cache of bytes.
    init(_ cache: any EntityCache, _ stage: PipelineStage) {
        (self.cache, self.stage, type, schema) = (cache, stage, EntityKey.bytesType, 0)
        isNameless = false
        encode = { $0 as? Data }
        decode = { $0 }
    }

    /// A cache of values, which are stored as JSON.
    init<Model: Codable & Sendable>(
        _ model: Model.Type, _ cache: any EntityCache, _ stage: PipelineStage, _ schema: UInt32
    ) {
        let name = TypeName(model)
        (self.cache, self.stage, type, self.schema) = (cache, stage, name.text, schema)
        isNameless = !name.isLasting && cache.isPersistent
        encode = { content in (content as? Model).flatMap { try? ModelCoding.encodeInPlace($0) } }
        decode = { try ModelCoding.decodeInPlace(model, $0) }
    }

    /// The entity to store for the content after the stage.
    func output(of entity: AnyEntity, _ contentType: String?) -> Output {
        Output(
            cache: self, body: encode(entity.content), mediaType: contentType,
            headerFields: entity.headerFields, status: entity.status.code)
    }

    /// The entity to store for a response that goes through no transformer.
    func output(of value: LoadedValue) -> Output {
        Output(
            cache: self, body: encode(value.body ?? Data()), mediaType: value.contentType,
            headerFields: value.head.headerFields, status: value.head.status.code)
    }
}

extension [StageCache] {
    /// The caches for a pipeline, from its first stage to its last.
    ///
    /// - Parameter standard: The cache of the service. It is used at the stage `decoding`, unless that stage has
    ///   another cache. By the meaning of the stages this is the last one after which the content is bytes, so
    ///   decryption and the like are not repeated, and no type must be named. If the order lacks that stage, the cache
    ///   is used at `raw`.
    init(_ pipeline: ResourcePipeline, standard: (any EntityCache)?) {
        var known: Set<PipelineStage> = []
        let order = pipeline.order.filter { known.insert($0).inserted }
        let place = [PipelineStage.decoding, .raw].first { order.contains($0) }
        self = order.compactMap { stage in
            if let own = pipeline.caches[stage] { return own }
            guard stage == place, let standard else { return nil }
            return StageCache(standard, stage)
        }
    }
}
