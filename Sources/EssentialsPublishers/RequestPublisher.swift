#if canImport(Combine)
    @preconcurrency public import Combine
#elseif OpenCombine
    @preconcurrency public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
    public import EssentialsHTTP
    public import EssentialsRequests

    /// Sends one request for each subscription, and publishes its result.
    ///
    /// ```swift
    /// let subscription = requests.publisher(for: DataRequest(.get, "users/7"), as: User.self)
    ///     .sink { _ in } receiveValue: { user in show(user) }
    /// ```
    ///
    /// The request is sent when the subscriber demands the first value, and again for each further subscription; share the
    /// publisher if that is not wanted. Cancelling the subscription cancels the request, and nothing is published then. A
    /// failure ends the subscription. Values arrive on the threads of Swift's tasks.
    public struct RequestPublisher<Output: Sendable>: Publisher, Sendable {
        /// The failure of the request.
        public typealias Failure = RequestFailure

        private let operation: @Sendable () async throws(RequestFailure) -> Output

        /// Creates a publisher of anything that ends like a request.
        ///
        /// - Parameter operation: Is called once for each subscription, in a task that is cancelled with it.
        public init(_ operation: @escaping @Sendable () async throws(RequestFailure) -> Output) {
            self.operation = operation
        }

        /// Attaches a subscriber; see `Publisher`.
        public func receive<Downstream: Subscriber>(
            subscriber: Downstream
        ) where Downstream.Input == Output, Downstream.Failure == RequestFailure {
            let receiver = Receiver(subscriber)
            let subscription = TaskSubscription { [operation] gate in
                let result: Result<Output, RequestFailure>
                do throws(RequestFailure) { result = .success(try await operation()) } catch {
                    result = .failure(error)
                }
                guard !gate.isCancelled else { return }
                switch result {
                case .success(let value):
                    guard await gate.take() else { return }
                    receiver.receive(value, gate)
                    if !gate.isCancelled { receiver.finish(.finished) }
                case .failure(let failure): receiver.finish(.failure(failure))
                }
            }
            subscriber.receive(subscription: subscription)
        }
    }

    extension DataRequestService {
        /// A publisher of the response to a request; see ``RequestPublisher``.
        public func publisher(for request: some BuildableRequest) -> RequestPublisher<DataResponse> {
            RequestPublisher { () throws(RequestFailure) in try await send(request) }
        }

        /// A publisher of a model; see ``RequestPublisher`` and `DataRequestService.model(of:as:)`.
        public func publisher<Model: Decodable & Sendable>(
            for request: some BuildableRequest, as type: Model.Type
        ) -> RequestPublisher<Model> {
            RequestPublisher { () throws(RequestFailure) in try await model(of: request, as: type) }
        }

        /// A publisher of the model of a definition; see ``RequestPublisher``.
        ///
        /// ```swift
        /// let subscription = requests.publisher(for: Users.get(id: 7))
        ///     .sink { _ in } receiveValue: { user in show(user) }
        /// ```
        public func publisher<Request: TypedRequest>(
            for request: Request
        ) -> RequestPublisher<Request.Response> where Request.Response: Decodable {
            RequestPublisher { () throws(RequestFailure) in try await send(request) }
        }

        /// A publisher for a definition without a model, which publishes one empty value; see ``RequestPublisher``.
        public func publisher<Request: TypedRequest>(
            for request: Request
        ) -> RequestPublisher<Void> where Request.Response == Void {
            RequestPublisher { () throws(RequestFailure) in try await send(request) }
        }
    }
#endif
