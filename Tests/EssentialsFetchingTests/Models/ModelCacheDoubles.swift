import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools

/// The cache of the documentation: a dictionary.
actor PlainCache: AsyncCache {
    /// The faults of this cache.
    enum Fault: String, CaseIterable, Sendable {
        case ignoresType, ignoresName, ignoresVariant, ignoresPartition, ignoresEnvironment, ignoresSchema
        case joinsParts, losesDate, roundsDate, alwaysContains, neverContains, keepsAll, keepsDeleted, keepsFirst
        case keepsNewestDate, deletesTooMuch, refusesNames, cutsLarge, throwsMisses, savesLate
    }

    private var models: [String: any Sendable] = [:]
    private var late: [(String, any Sendable)] = []
    private let fault: Fault?
    /// Whether other tasks come between finding a model and returning it.
    private let yields: Bool

    init(_ fault: Fault? = nil, yields: Bool = false) { (self.fault, self.yields) = (fault, yields) }

    private func place<Value>(_ key: ModelKey<Value>) -> String {
        let parts = [
            fault == .ignoresName ? "" : key.name, fault == .ignoresVariant ? "" : key.variant,
            fault == .ignoresPartition ? "" : key.partition.name,
            fault == .ignoresEnvironment ? "" : key.environment, fault == .ignoresSchema ? "" : "\(key.schema)",
            fault == .ignoresType ? "" : key.type,
        ]
        if fault == .joinsParts { return parts.joined() }
        return parts.map { "\($0.utf8.count):\($0)" }.joined()
    }

    func save<Value: Codable & Sendable>(_ model: CachedModel<Value>, for key: ModelKey<Value>) async throws {
        let place = place(key)
        var model = model
        if fault == .keepsFirst, models[place] != nil { return }
        if fault == .refusesNames, key.name.contains("/") { return }
        if fault == .losesDate { model.date = Date(timeIntervalSinceReferenceDate: 0) }
        if fault == .roundsDate {
            model.date = Date(timeIntervalSinceReferenceDate: model.date.timeIntervalSinceReferenceDate.rounded())
        }
        let data = try JSONEncoder().encode(model.value)
        if fault == .cutsLarge, data.count > 100_000 { return }
        let entry = (data, model.date)
        if fault == .keepsNewestDate, let old = models[place] as? (Data, Date), old.1 > model.date { return }
        if fault == .savesLate {
            for (place, entry) in late { models[place] = entry }
            late = [(place, entry)]
            return
        }
        models[place] = entry
    }

    func load<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws -> CachedModel<Value>? {
        let found = models[place(key)]
        if yields { await Task.yield() }
        guard let (data, date) = found as? (Data, Date) else {
            if fault == .throwsMisses { throw RequestFailure(.file, "There is no such model.") }
            return nil
        }
        return CachedModel(try JSONDecoder().decode(Value.self, from: data), date: date)
    }

    func delete<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws {
        switch fault {
        case .keepsDeleted: break
        case .deletesTooMuch: models = [:]
        default: models[place(key)] = nil
        }
    }

    func deleteAll() async throws {
        if fault != .keepsAll { models = [:] }
    }

    func contains<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws -> Bool {
        if fault == .alwaysContains { return true }
        return fault == .neverContains ? false : models[place(key)] != nil
    }
}

/// A directory that is removed at the end of a test.
final class ModelDirectory: Sendable {
    let path = "/tmp/essentials-models-\(getpid())-\(UInt64.random(in: .min ... .max))"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The names of all files except the one that records removals.
    var names: [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return all.filter { $0 != ".removals" }.sorted()
    }

    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path + "/" + name)) }

    func write(_ data: Data, _ name: String) throws { try data.write(to: URL(filePath: path + "/" + name)) }
}

/// An entity cache that can fail, and can hold reads back.
final class TroubledCache: EntityCache {
    struct Trouble: Error {}

    let memory = MemoryEntityCache()
    let isFailing = Mutex(false)
    /// The latches for a read that has found its entity.
    let gate = Mutex<(reached: Latch, released: Latch)?>(nil)

    func entity(for key: EntityKey) async throws -> StoredEntity? {
        if isFailing.withLock({ $0 }) { throw Trouble() }
        let entity = memory.entity(for: key)
        if let (reached, released) = gate.withLock({ $0 }) {
            reached.open()
            await released.wait()
        }
        return entity
    }

    func store(_ entity: StoredEntity, for key: EntityKey) async throws {
        if isFailing.withLock({ $0 }) { throw Trouble() }
        memory.store(entity, for: key)
    }

    func remove(_ key: EntityKey) async throws {
        if isFailing.withLock({ $0 }) { throw Trouble() }
        memory.remove(key)
    }

    func removeAll(in scope: EntityScope) async throws {
        if isFailing.withLock({ $0 }) { throw Trouble() }
        memory.removeAll(in: scope)
    }
}
