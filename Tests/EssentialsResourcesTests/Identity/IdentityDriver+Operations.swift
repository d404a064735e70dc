import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit

/// The steps that read and write.
extension IdentityDriver {
    // MARK: Reading

    func beginReading() {
        switch random.percent {
        case 0..<40: load()
        case 40..<60: describe()
        case 60..<80: iterate()
        default: readBlob()
        }
    }

    private func load() {
        let path = choose(Self.resourcePaths)
        let (client, model, begun) = (client, model, model.view)
        switch choose(5) {
        case 0, 1:
            note("load \(path)")
            operations.begin(path) {
                guard let item = try? await client.resource(path).load() else { return }
                model.checkReturned(item.number, in: .resource, to: begun, isOwn: true, "a load of \(path)")
            }
        case 2, 3:
            note("load \(path) if needed")
            operations.begin(path) {
                guard let item = try? await client.resource(path).loadIfNeeded() else { return }
                model.checkReturned(item.number, in: .resource, to: begun, isOwn: true, "a load of \(path)")
            }
        default:
            note("load \(path) if it is stored")
            operations.begin(path) {
                guard let item = try? await client.resource(path).load(.onlyIfStored) else { return }
                model.checkReturned(item.number, in: .resource, to: begun, isOwn: false, "a stored load of \(path)")
            }
        }
    }

    /// Keeps a description of a fetch, which may be iterated later and often.
    private func describe() {
        let path = choose(Self.modelPaths)
        let sources: [FetchSource] = [
            .cache, .backend, .cacheThenBackend, .cacheElseBackend, .backendElseCache, .both,
        ]
        let source = choose(sources)
        let emissions = client.fetching.get(path, from: source, as: MadeItem.self)
        let isShared = random.percent < 30
        note("\(isShared ? "share" : "describe") a fetch of \(path) from \(source)")
        // A shared fetch begins now. Its readers come later, and must be allowed to see its values.
        descriptions.append((path, isShared ? emissions.shared() : emissions, isShared ? model.view : nil))
        if descriptions.count > 4 { descriptions.removeFirst() }
        if random.percent < 60 { iterate(descriptions.count - 1) }
    }

    private func iterate() {
        guard !descriptions.isEmpty else { return describe() }
        iterate(choose(descriptions.count))
    }

    private func iterate(_ index: Int) {
        let (path, emissions, shared) = descriptions[index]
        note("iterate fetch \(index) of \(path)")
        var begun = model.view
        // The values of a shared fetch stay in it, regardless of later deletions.
        if let shared { begun.modelsDeleted = shared.modelsDeleted }
        let (model, view, isShared) = (model, begun, shared != nil)
        operations.begin(path) {
            do {
                for try await emission in emissions {
                    model.checkReturned(
                        emission.value.number, in: .model, to: view, isOwn: emission.source == .backend && !isShared,
                        "a fetch of \(path)")
                }
            } catch {}
        }
    }

    private func readBlob() {
        let path = choose(Self.blobPaths)
        note("read \(path)")
        let (client, model, begun) = (client, model, model.view)
        operations.begin(path) {
            guard let data = try? await client.blobs.bytes(at: path), let item = MadeItem(json: data) else { return }
            model.checkReturned(item.number, in: .blob, to: begun, isOwn: true, "a read of \(path)")
        }
    }

    // MARK: Writing

    func beginWriting() async {
        switch choose(6) {
        case 0, 1: put()
        case 2: patch()
        case 3: sendWrite()
        case 4: override()
        default: await addToOutbox()
        }
    }

    private func put() {
        let path = choose(Self.resourcePaths)
        let item = model.makeLocal(.write)
        let isOptimistic = random.percent < 50
        note("put \(item.number) to \(path)\(isOptimistic ? ", shown at once" : "")")
        let client = client
        operations.begin(path) {
            let resource = client.resource(path)
            if isOptimistic {
                _ = try? await resource.put(item, optimistically: { content in content = item })
            } else {
                _ = try? await resource.put(item)
            }
        }
    }

    private func patch() {
        let path = choose(Self.resourcePaths)
        let item = model.makeLocal(.write)
        note("patch \(path) with \(item.number), and take the response")
        let client = client
        operations.begin(path) { _ = try? await client.resource(path).patch(item, .returningContent) }
    }

    private func sendWrite() {
        let path = choose(Self.modelPaths)
        let item = model.makeLocal(.write)
        note("send \(item.number) to \(path)")
        let (client, model, begun) = (client, model, model.view)
        operations.begin(path) {
            let response: MadeItem? = try? await client.fetching.put(
                path, body: item, outdating: [.get(path, as: MadeItem.self)])
            model.checkReturned(response?.number, in: .model, to: begun, isOwn: true, "a write to \(path)")
        }
    }

    private func override() {
        let path = choose(Self.resourcePaths)
        let item = model.makeLocal(.write)
        note("override \(path) with \(item.number)")
        let client = client
        client.resource(path).override(with: item)
    }

    /// Adds an entry to the outbox for the account that is entered.
    private func addToOutbox() async {
        // Between two accounts it is unknown to which account a write belongs, so the application adds no entry.
        guard !needsToEnter, let outbox = client.outbox else { return }
        let item = model.makeLocal(.outboxEntry)
        let path = "o\(choose(2))"
        note("add \(item.number) to the outbox")
        let adding = IdentityOperations(model)
        adding.begin("") { _ = try? await outbox.add(DataRequest.post(path, body: item)) }
        await end(adding, "adding to the outbox")
    }
}
