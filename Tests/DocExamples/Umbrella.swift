// swift-format-ignore-file
// The code stands as in the documentation comments.

#if Persistence
    import FoundationEssentials
    import ServiceEssentials

    private struct Cart: Codable, Sendable {}
    private struct User: Sendable { var pictureURL = "" }
    private struct Film: PersistentModel {
        var id = ModelID<Film>()
        var year = 0
        static let table = "film"
        static let columns: MappedColumns<Film> = ["id": \.id, "year": \.year]
    }
    private let (path, film, user) = ("", Film(), User())
    private let (app, locator) = (ServiceLocator(name: "app"), ServiceLocator(name: "app"))
    private var requests: HTTPDataRequestService { given() }
    private var environment: ConstantEnvironment { given() }

    // Credentials+Digest.swift
    private func credentialsDigestExample() async throws {
        requests.setAuthorization(try .digest(user: "ada", password: "…"))
    }

    // EntityRow.swift
    private func entityRowExample() async throws {
        let store = SQLiteStore(path: path, models: [EntityRow.self])
        let migration = Migration("1 entities", sql: EntityRow.tableSQL)
        use(store, migration)
    }

    // HTTPDataRequestService+Curl.swift
    private func hTTPDataRequestServiceCurlExample() async throws {
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(
                environment: locator.resolve((any EnvironmentService).self),
                trust: TrustPolicy(pins: [.publicKey("sha256/…"), .publicKey("sha256/…")]))
        }
    }

    private func hTTPDataRequestServiceCurlExample2() async throws {
        let open = try HTTPDataRequestService.forAnyServer()
        let picture: Data = try await open.get(user.pictureURL)
        use(picture)
    }

    // HTTPResourceService+Curl.swift
    private func hTTPResourceServiceCurlExample() async throws {
        let service = try HTTPResourceService(baseURL: "https://api.example.com/v1/")
        let cart: Resource<Cart> = service.resource("cart")
        use(cart)
    }

    // PersistentEntityCache.swift
    private func persistentEntityCacheExample() async throws {
        let store = SQLitePersistenceService(
            SQLiteStore(path: "/var/lib/shop/cache.sqlite", models: [EntityRow.self]),
            migrations: [Migration("1 entities", sql: EntityRow.tableSQL)])
        let cache = PersistentEntityCache(store)
        let resources = try HTTPResourceService(requests: requests, environment: environment, cache: cache)
        use(resources)
    }

    // ServiceLocator+Persistence.swift
    private func serviceLocatorPersistenceExample() async throws {
        try await app.withScope("edit") { workflow in
            let edits = try workflow.openPersistence()
            try await edits.update(film.id, save: .pending) { $0.year = 1927 }
            try await edits.save(.store)              // without this line nothing has happened
        }
    }
#endif
