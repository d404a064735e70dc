import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// A cache at a stage of a pipeline: what it stores, and how this becomes content again.
struct StageCache: Sendable {
    /// An entity that a pass through the pipeline has given at the stage.
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
    /// The name of the type of what is stored.
    let type: String
    let schema: UInt32
    /// Whether the entities cannot be found at the next start of the program, because the name of the type is another one
    /// then. Nothing is stored.
    let isNameless: Bool
    /// The content as bytes; `nil` if it has another type or cannot be encoded.
    let encode: @Sendable (any Sendable) -> Data?
    /// The content of bytes.
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

    /// What is stored of the content after the stage.
    func output(of entity: AnyEntity, _ contentType: String?) -> Output {
        Output(
            cache: self, body: encode(entity.content), mediaType: contentType,
            headerFields: entity.headerFields, status: entity.status.code)
    }

    /// What is stored of a response that goes through no transformer.
    func output(of value: LoadedValue) -> Output {
        Output(
            cache: self, body: encode(value.body ?? Data()), mediaType: value.contentType,
            headerFields: value.head.headerFields, status: value.head.status.code)
    }
}

extension [StageCache] {
    /// The caches for a pipeline, from its first stage to its last.
    ///
    /// - Parameter standard: The cache of the service, which is used at the stage `decoding`, unless there is another
    ///   cache at that stage. By the meaning of the stages this is the last one after which the content is bytes, so
    ///   decryption and the like are not repeated, and no type must be named. An order without that stage has it at
    ///   `raw`.
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
