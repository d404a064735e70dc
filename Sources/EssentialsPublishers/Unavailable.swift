// Without the trait, the names are declared all the same, so that the compiler says what is missing.
#if !canImport(Combine) && !OpenCombine
    public import EssentialsRequests
    public import EssentialsFetching

    /// A publisher of one value of a request, which needs the trait `OpenCombine`.
    @available(
        *, unavailable,
        message: "Enable the trait OpenCombine: .package(url: \"…\", from: \"…\", traits: [\"OpenCombine\"])"
    )
    public struct RequestPublisher<Output: Sendable>: Sendable {}

    /// A publisher of the elements of a sequence, which needs the trait `OpenCombine`.
    @available(
        *, unavailable,
        message: "Enable the trait OpenCombine: .package(url: \"…\", from: \"…\", traits: [\"OpenCombine\"])"
    )
    public struct SequencePublisher<Base: AsyncSequence & Sendable>: Sendable {
        /// Takes what the publisher with the trait takes.
        public init(_ base: Base) {}
    }

    extension DataRequestService {
        /// The publisher of a response, which needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message: "Enable the trait OpenCombine: .package(url: \"…\", from: \"…\", traits: [\"OpenCombine\"])"
        )
        public func publisher(for request: some BuildableRequest) -> RequestPublisher<DataResponse> {
            RequestPublisher()
        }

        /// The publisher of a model, which needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message: "Enable the trait OpenCombine: .package(url: \"…\", from: \"…\", traits: [\"OpenCombine\"])"
        )
        public func publisher<Model: Decodable & Sendable>(
            for request: some BuildableRequest, as type: Model.Type
        ) -> RequestPublisher<Model> {
            RequestPublisher()
        }
    }

    extension Emissions {
        /// The publisher of a fetch, which needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message: "Enable the trait OpenCombine: .package(url: \"…\", from: \"…\", traits: [\"OpenCombine\"])"
        )
        public var publisher: SequencePublisher<Emissions> { SequencePublisher(self) }
    }
#endif
