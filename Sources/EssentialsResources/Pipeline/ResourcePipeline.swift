public import EssentialsHTTP

/// The steps through which the responses of a resource become content.
///
/// ```swift
/// try service.configure("/reports/*", methods: [.get]) {
///     $0.pipeline.transform(at: .decoding) { (bytes: Data) in try decrypt(bytes) }
///     $0.pipeline.transform(at: .model) { (bytes: Data) in try Report(bytes) }
///     $0.pipeline.transform(at: .cleanup, appends: true) { (report: Report) in report.sorted() }
///     $0.pipeline.add(.content(Report.none, forStatus: 404), at: .model)
/// }
/// ```
///
/// The pipeline begins with the bytes of the body, which may be empty, and ends with a value. Each view of the resource
/// shows that value if it has the content type of the view. Otherwise the view reads the last bytes by the codec of
/// their media type. Without transformers the pipeline does nothing. A confirmation by 304 and an override do not go
/// through the pipeline.
public struct ResourcePipeline: Sendable {
    private enum Step: Sendable {
        case content(Transformer)
        case failure(FailureTransformer)
    }

    /// The stages that are run, in this order. The default is raw, decoding, parsing, model and cleanup.
    ///
    /// Transformers of other stages are kept but skipped, and the service logs this. A stage that occurs twice is
    /// refused by ``HTTPResourceService/configure(_:methods:name:_:)``, and runs once.
    public var order: [PipelineStage] = [.raw, .decoding, .parsing, .model, .cleanup]
    private var steps: [PipelineStage: [Step]] = [:]
    /// The caches of stages.
    var caches: [PipelineStage: StageCache] = [:]

    /// Creates a pipeline without transformers.
    public init() {}

    // MARK: Steps

    /// Adds a transformer.
    ///
    /// - Parameters:
    ///   - transformer: The transformer.
    ///   - stage: The stage.
    ///   - appends: Whether it follows the existing transformers of the stage. By default it replaces them.
    public mutating func add(_ transformer: Transformer, at stage: PipelineStage, appends: Bool = false) {
        if !appends {
            steps[stage]?.removeAll { if case .content = $0 { true } else { false } }
        }
        steps[stage, default: []].append(.content(transformer))
    }

    /// Adds a transformer of failures; see ``add(_:at:appends:)-(Transformer,_,_)``. It replaces only transformers of
    /// failures.
    public mutating func add(_ transformer: FailureTransformer, at stage: PipelineStage, appends: Bool = false) {
        if !appends {
            steps[stage]?.removeAll { if case .failure = $0 { true } else { false } }
        }
        steps[stage, default: []].append(.failure(transformer))
    }

    /// Adds a transformer of content; see ``Transformer/init(for:wrongInput:_:)``.
    public mutating func transform<Input: Sendable, Output: Sendable>(
        at stage: PipelineStage, for patterns: [MediaPattern] = [.any], wrongInput: Transformer.WrongInput = .fails,
        appends: Bool = false, _ transform: @escaping @Sendable (Input) async throws -> Output?
    ) {
        add(Transformer(for: patterns, wrongInput: wrongInput, transform), at: stage, appends: appends)
    }

    /// Adds a transformer of content and header fields; see ``Transformer/init(entitiesFor:wrongInput:_:)``.
    public mutating func transformEntity<Input: Sendable, Output: Sendable>(
        at stage: PipelineStage, for patterns: [MediaPattern] = [.any], wrongInput: Transformer.WrongInput = .fails,
        appends: Bool = false,
        _ transform: @escaping @Sendable (PipelineEntity<Input>) async throws -> PipelineEntity<Output>?
    ) {
        add(Transformer(entitiesFor: patterns, wrongInput: wrongInput, transform), at: stage, appends: appends)
    }

    /// Removes all transformers of a stage.
    public mutating func removeAll(at stage: PipelineStage) { steps[stage] = nil }

    /// Removes all transformers.
    public mutating func removeAll() { steps = [:] }

    /// The stages with transformers that are not in ``order``, so they are skipped.
    public var skippedStages: Set<PipelineStage> {
        Set(steps.filter { !$0.value.isEmpty }.keys).subtracting(order)
    }

    // MARK: Running

    /// Whether there are no transformers.
    var isEmpty: Bool { steps.isEmpty }

    /// Why the order is refused; `nil` if it is valid.
    var problem: RequestFailure? {
        var known: Set<PipelineStage> = []
        for stage in order where !known.insert(stage).inserted {
            return RequestFailure(
                .invalidRequest, "The stage “\(stage)” occurs twice in the order of a pipeline.", remedy: "Remove one.")
        }
        return nil
    }

    /// Runs the pipeline on a response or a failure, outside the caller's actor.
    ///
    /// There are never more transformers computing than processors, because transformers run on the threads of the
    /// concurrency library.
    ///
    /// - Parameter caches: The caches for which entities are collected, from the first stage to the last.
    /// - Throws: The failure that remains at the end; `cancelled` if the task was cancelled.
    @concurrent
    func run(
        _ outcome: Result<LoadedValue, RequestFailure>, _ codecs: CodecRegistry, caches: [StageCache] = []
    ) async throws(RequestFailure) -> PipelineResult {
        try await run(PipelineRun(outcome, codecs), order[...], caches)
    }

    /// Runs the stages that follow a stage, outside the caller's actor.
    ///
    /// - Parameters:
    ///   - value: The content after the stage.
    ///   - stage: The stage.
    @concurrent
    func resume(
        with value: LoadedValue, after stage: PipelineStage, _ codecs: CodecRegistry, caches: [StageCache]
    ) async throws(RequestFailure) -> PipelineResult {
        guard let index = order.firstIndex(of: stage) else { return PipelineResult(value: value, outputs: []) }
        return try await run(PipelineRun(value, codecs), order[(index + 1)...], caches)
    }

    private func run(
        _ start: PipelineRun, _ stages: ArraySlice<PipelineStage>, _ caches: [StageCache]
    ) async throws(RequestFailure) -> PipelineResult {
        var run = start
        var outputs: [StageCache.Output] = []
        var known = Set(order[..<stages.startIndex])
        for stage in stages where known.insert(stage).inserted {
            for step in steps[stage] ?? [] {
                guard !Task.isCancelled else { throw LoadOutcome.cancelledFailure }
                switch step {
                case .content(let transformer): await run.apply(transformer)
                case .failure(let transformer): await run.apply(transformer)
                }
            }
            if let cache = caches.first(where: { $0.stage == stage }), let entity = run.entity {
                outputs.append(cache.output(of: entity.content, entity.contentType))
            }
        }
        return PipelineResult(value: try run.value(), outputs: outputs)
    }
}
