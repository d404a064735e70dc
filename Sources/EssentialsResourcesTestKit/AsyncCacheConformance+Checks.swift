import EssentialsFetching
import EssentialsRequests
import FoundationEssentials

extension AsyncCacheConformance {
    mutating func checkEmptyCache() async {
        await group("An empty cache") { cache, suite in
            let key = ModelKey<Model>("a")
            try await cache.delete(key)
            try await cache.deleteAll()
            try await suite.expect(cache, key, nil, "An empty cache", "It must have no models.")
        }
    }

    mutating func checkRoundTrip() async {
        await group("A saved model") { cache, suite in
            let rule = "A model must be found as it was saved."
            for (number, seconds) in [0, 0.001, -1e9, 6e9, -0.5].enumerated() {
                let key = ModelKey<Model>("a\(number)")
                let model = Self.model(.max - number, "line\n\u{0}\u{1F600} e\u{301} \"quoted\"", after: seconds)
                try await cache.save(model, for: key)
                try await suite.expect(cache, key, model, "A saved model", rule)
            }
            let list = CachedModel([Model](), date: Self.date)
            try await cache.save(list, for: ModelKey("list"))
            try await suite.expect(cache, ModelKey("list"), list, "An empty list", rule)
            let number = CachedModel(0.1, date: Self.date)
            try await cache.save(number, for: ModelKey("number"))
            try await suite.expect(cache, ModelKey("number"), number, "A single number", rule)
            let text = CachedModel("", date: Self.date)
            try await cache.save(text, for: ModelKey("text"))
            try await suite.expect(cache, ModelKey("text"), text, "An empty text", rule)
        }
    }

    mutating func checkReplacement() async {
        await group("A model that was saved again") { cache, suite in
            let key = ModelKey<Model>("a")
            let rule = "The model that was saved last must be found, whatever its date is."
            for number in 0..<5 {
                let model = Self.model(number, after: Double(number))
                try await cache.save(model, for: key)
                try await suite.expect(cache, key, model, "A model that was saved again", rule)
            }
            let older = Self.model(9, after: -1_000)
            try await cache.save(older, for: key)
            try await suite.expect(cache, key, older, "A model that was saved again with an older date", rule)
        }
    }

    mutating func checkDeletion() async {
        await group("Deleting a model") { cache, suite in
            let (key, other) = (ModelKey<Model>("a"), ModelKey<Model>("b"))
            try await cache.save(Self.model(1), for: key)
            try await cache.save(Self.model(2), for: other)
            try await cache.delete(key)
            try await suite.expect(cache, key, nil, "After delete", "A deleted model must not be found.")
            try await suite.expect(
                cache, other, Self.model(2), "After delete of another key", "Only the model of the key is deleted.")
            try await cache.delete(key)
            try await cache.save(Self.model(3), for: key)
            try await suite.expect(
                cache, key, Self.model(3), "After delete and save", "A deleted model can be saved again.")
        }
    }

    mutating func checkDeletionOfAll() async {
        await group("deleteAll") { cache, suite in
            let rule = "deleteAll must delete the models of all names, types, accounts, environments and versions."
            let keys = [
                ModelKey<Model>("a"), ModelKey("b", variant: "de"), ModelKey("c", partition: "p"),
                ModelKey("d", environment: "test"), ModelKey("e", schema: 2),
            ]
            let other = ModelKey<OtherModel>("a")
            for key in keys { try await cache.save(Self.model(1), for: key) }
            try await cache.save(CachedModel(OtherModel(number: 2, text: ""), date: Self.date), for: other)
            try await cache.deleteAll()
            for key in keys { try await suite.expect(cache, key, nil, "After deleteAll (\(key.name))", rule) }
            try await suite.expect(cache, other, nil, "After deleteAll (another type)", rule)
            for key in keys { try await cache.save(Self.model(4), for: key) }
            for key in keys {
                try await suite.expect(
                    cache, key, Self.model(4), "After deleteAll and save", "Models can be saved after deleteAll.")
            }
        }
    }

    mutating func checkSlots() async {
        let key = ModelKey<Model>("a", variant: "v", partition: "p", environment: "e", schema: 1)
        let others: [(String, (inout ModelKey<Model>) -> Void)] = [
            ("name", { $0.name = "b" }), ("variant", { $0.variant = "w" }), ("partition", { $0.partition = "q" }),
            ("environment", { $0.environment = "f" }), ("schema", { $0.schema = 2 }),
            ("name (in its case)", { $0.name = "A" }), ("schema (by a multiple of 256)", { $0.schema = 257 }),
            ("partition (which is empty)", { $0.partition = .shared }),
            ("division into name and variant", { ($0.name, $0.variant) = ("av", "") }),
            ("division into variant and environment", { ($0.variant, $0.environment) = ("", "ve") }),
        ]
        for (part, change) in others {
            var other = key
            change(&other)
            await checkSlots(part, key, other, { Model(number: $0, text: "") }, { Model(number: $0, text: "") })
        }
        await checkSlots(
            "type", key,
            ModelKey<OtherModel>("a", variant: "v", partition: "p", environment: "e", schema: 1),
            { Model(number: $0, text: "") }, { OtherModel(number: $0, text: "") })
    }

    /// Checks that two keys that differ in one part never share a model.
    private mutating func checkSlots<
        First: Codable & Sendable & Equatable, Second: Codable & Sendable & Equatable
    >(
        _ part: String, _ key: ModelKey<First>, _ other: ModelKey<Second>, _ first: (Int) -> First,
        _ second: (Int) -> Second
    ) async {
        let situation = "Two keys with another \(part)"
        let rule = "Keys that differ in their \(part) must have separate models."
        await group(situation) { cache, suite in
            try await cache.save(CachedModel(first(1), date: Self.date), for: key)
            try await suite.expect(cache, other, nil, "\(situation), one saved", rule)
            try await cache.save(CachedModel(second(2), date: Self.date), for: other)
            try await suite.expect(
                cache, key, CachedModel(first(1), date: Self.date), "\(situation), both saved", rule)
            try await suite.expect(
                cache, other, CachedModel(second(2), date: Self.date), "\(situation), both saved", rule)
            try await cache.delete(other)
            try await suite.expect(
                cache, key, CachedModel(first(1), date: Self.date), "\(situation), the other deleted", rule)
        }
    }

    mutating func checkNames() async {
        await group("Unusual names") { cache, suite in
            var names = [
                "", " ", ".", "..", "../a", "/a", "a/", "a//b", "a\\b", "a\u{0}b", "a\nb", "%2F", "a%2Fb", "a/b",
            ]
            names += [
                "\u{1F600}", "ß", "ss", "ﬁ", "fi", "İ", "a'; --", "https://api.example.com/a?b=c&d=%20#e", "*", "?",
            ]
            names.append(String(repeating: "long", count: 1_000))
            names.append(String(repeating: "long", count: 1_000) + "!")
            for (number, name) in names.enumerated() {
                try await cache.save(Self.model(number), for: ModelKey(name))
            }
            for (number, name) in names.enumerated() {
                try await suite.expect(
                    cache, ModelKey(name), Self.model(number), "The name “\(name.prefix(40))”",
                    "Every text can be a name, and different names have separate models.")
            }
        }
    }

    mutating func checkLargeModels() async {
        await group("A large model") { cache, suite in
            let model = Self.model(1, String(repeating: "0123456789abcdef", count: 1 << 16))
            try await cache.save(model, for: ModelKey("large"))
            try await suite.expect(
                cache, ModelKey("large"), model, "A model of 1 MiB", "Models up to 1 MiB must be kept whole.")
        }
    }

    mutating func checkConcurrency() async {
        await group("Concurrent use of many keys") { cache, suite in
            let lost = try await withThrowingTaskGroup(of: Int.self) { group in
                for task in 0..<20 {
                    group.addTask {
                        var lost = 0
                        for number in 0..<5 {
                            let key = ModelKey<Model>("\(task)-\(number)")
                            let model = Self.model(task * 5 + number)
                            try await cache.save(model, for: key)
                            if try await cache.load(key)?.value != model.value { lost += 1 }
                        }
                        return lost
                    }
                }
                return try await group.reduce(0, +)
            }
            suite.expect(
                lost == 0,
                "Concurrent use of many keys: \(lost) of 100 models were not found by the task that had saved them. A model "
                    + "must be found as soon as save has returned.")
        }
        await group("Concurrent use of one key") { cache, suite in
            let key = ModelKey<Model>("one")
            let mixed = try await withThrowingTaskGroup(of: Int.self) { group in
                for task in 0..<20 {
                    group.addTask {
                        try await cache.save(Self.model(task, "\(task)", after: Double(task)), for: key)
                        guard let found = try await cache.load(key) else { return 1 }
                        let expected = Self.model(
                            found.value.number, "\(found.value.number)", after: Double(found.value.number))
                        let isWhole =
                            found.value == expected.value
                            && abs(found.date.timeIntervalSince(expected.date)) < 0.001 + 0x1p-20
                        return isWhole ? 0 : 1
                    }
                }
                return try await group.reduce(0, +)
            }
            suite.expect(
                mixed == 0,
                "Concurrent use of one key: \(mixed) of 20 tasks have found no model, or parts of two. A model and its date "
                    + "must be replaced together.")
        }
    }

    mutating func checkRestart(_ closing: @Sendable (any AsyncCache) async throws -> Void) async {
        let (kept, deleted) = (ModelKey<Model>("kept", partition: "p", schema: 3), ModelKey<Model>("deleted"))
        let memoryOnly = ModelKey<Model>("memory only")
        await group("Before a restart") { cache, _ in
            for number in 1...3 { try await cache.save(Self.model(number, after: Double(number)), for: kept) }
            try await cache.save(Self.model(4), for: deleted)
            try await cache.delete(deleted)
            var model = Self.model(5)
            try await cache.save(model, for: memoryOnly)
            model.isMemoryOnly = true
            try await cache.save(model, for: memoryOnly)
            try await closing(cache)
        }
        await group("After a restart") { cache, suite in
            try await suite.expect(
                cache, kept, Self.model(3, after: 3), "After a restart", "The model that was saved last must be found.")
            try await suite.expect(
                cache, deleted, nil, "After a restart", "A model that was deleted must not be found.")
            try await suite.expect(
                cache, memoryOnly, nil, "After a restart",
                "A model whose isMemoryOnly is true must not be stored, and the one before it must be deleted.")
            try await cache.deleteAll()
            try await closing(cache)
        }
        await group("After deleteAll and a restart") { cache, suite in
            try await suite.expect(
                cache, kept, nil, "After deleteAll and a restart", "deleteAll must delete stored models too.")
        }
    }
}
