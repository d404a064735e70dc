// swift-format-ignore-file
// The code stands as in the documentation comments.

#if OpenCombine
    import EssentialsPublishers
    import OpenCombine
    import ServiceEssentials

    private struct User: Codable, Sendable {}
    private struct Coin: Codable, Sendable {}
    private struct Cart: Codable, Sendable {}
    private enum Users: APIService {
        static func get(id: Int) -> APIRequest<User> { request(.get, "users/\(id)") }
    }
    private struct Coins { func coins() -> Emissions<[Coin]> { given() } }
    private let (show, service) = (Application(), Coins())
    private var requests: any DataRequestService { given() }
    private var cart: Resource<Cart> { given() }

    // RequestPublisher.swift
    private func requestPublisherExample() async throws {
        let subscription = requests.publisher(for: DataRequest(.get, "users/7"), as: User.self)
            .sink { _ in } receiveValue: { user in show(user) }
        use(subscription)
    }

    // RequestPublisher.swift
    private func requestPublisherExample2() async throws {
        let subscription = requests.publisher(for: Users.get(id: 7))
            .sink { _ in } receiveValue: { user in show(user) }
        use(subscription)
    }

    // SequencePublisher.swift
    private func sequencePublisherExample() async throws {
        let subscription = cart.statesPublisher().sink { state in show(state.content) }
        use(subscription)
    }

    // SequencePublisher.swift
    private func sequencePublisherExample2() async throws {
        let subscription = service.coins().publisher.sink { _ in } receiveValue: { coins in show(coins.value) }
        use(subscription)
    }
#endif
