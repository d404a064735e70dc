public import EssentialsHTTP
public import EssentialsRequests
import EssentialsStorage
import EssentialsTools
public import EssentialsTransport
public import FoundationEssentials

/// Keeps the responses of a `ResponseCache` in a Redis or Valkey server, where the other machines of the application find them.
///
/// ```swift
/// configuration.cache = ResponseCache(store: RedisResponseStore(redis))
/// ```
///
/// A response that one machine has fetched is served by all, and what one of them invalidates is invalidated everywhere. A
/// memory in front of it is not needed: what was read lately is in the memory of the client, and the server tells when it
/// changes.
///
/// Only responses for an account that the application has named, and those to requests without credentials, leave the process.
/// Those to requests with secrets of their own, such as a key of an API, are stored only with a secret in the client's
/// configuration. A body may have 1 MiB. A response is kept as long as it is useful, at most 25 hours.
///
/// Nothing fails because of the server: while it is not there, nothing is found. An invalidation then waits until the server
/// has it, and this process does not use what is stored under that URL meanwhile; other processes may. A client that is
/// released while one waits goes on until it is written, or ``RedisClient/close()`` is called.
public final class RedisResponseStore: ResponseStore {
    /// The result of a change that depends on what is stored.
    private enum Outcome {
        case stored
        /// Another process was quicker, and it has to be decided again.
        case changed
        case refused
    }

    /// What was known when a response was asked for.
    fileprivate struct Knowledge: Sendable {
        let epoch: UInt64
        let generation: UInt64
        /// The values that the server has, in the order of ``ResponseNames/numbers``.
        let values: [[UInt8]]

        var ticket: ResponseTicket { ResponseTicket(epoch: epoch, generation: generation, context: self) }
    }

    let client: RedisClient
    let space: ResponseSpace

    /// Creates a store. Several stores of one client are the same.
    public init(_ client: RedisClient) {
        self.client = client
        space = ResponseSpace(prefix: client.prefix, secret: client.configuration.secret)
    }

    /// 1 MiB.
    public var largest: Int { 1 << 20 }
    /// That of the client's configuration.
    public var isShared: Bool { client.configuration.isShared }
    /// The secret of the client's configuration.
    public var fingerprintKey: FingerprintKey { client.configuration.secret }
    /// `true`, so that many machines that need a response at once ask for it once.
    public var leasesMisses: Bool { true }
    /// The clock of the client's configuration.
    public var clock: RequestClock { client.configuration.clock }
    /// The time limit of the client's configuration.
    public var timeLimit: Duration { client.configuration.timeLimit }

    // MARK: Finding

    /// The stored responses of a key: in one round trip, or from the memory of the process.
    public func lookup(_ key: ResponseKey) async -> ResponseLookup {
        guard let names = ResponseNames(key, space), let values = await client.values(names.all) else {
            return ResponseLookup()
        }
        return lookup(values, names, key)
    }

    fileprivate func lookup(
        _ values: [TrackedValues.Value], _ names: ResponseNames, _ key: ResponseKey
    ) -> ResponseLookup {
        guard let known = knowledge(in: values.dropFirst()) else { return ResponseLookup() }
        guard let value = values.first ?? nil, let list = list(in: value, names, known) else {
            return ResponseLookup(ticket: known.ticket)
        }
        let responses = list.records.compactMap { record in
            StoredResponse(bytes: record.head, for: key, body: record.inlineBody)
        }
        if responses.count < list.records.count { delete(names.list) }
        return ResponseLookup(responses, ticket: known.ticket)
    }

    /// The list in a value; `nil` if it is not valid any more, or damaged.
    private func list(in value: [UInt8], _ names: ResponseNames, _ known: Knowledge) -> StoredList? {
        guard let list = StoredList(value) else {
            delete(names.list)
            return nil
        }
        return list.epoch == known.epoch && list.generation == known.generation ? list : nil
    }

    /// The ticket for a key. Numbers that the server does not have are made.
    public func ticket(for key: ResponseKey) async -> ResponseTicket? {
        guard let names = ResponseNames(key, space), let values = await client.values(names.numbers) else { return nil }
        if let known = knowledge(in: values[...]) { return known.ticket }
        return await make(names, values).flatMap { knowledge(in: $0[...]) }?.ticket
    }

    /// Makes numbers that are missing or damaged, and reads all.
    private func make(_ names: ResponseNames, _ values: [TrackedValues.Value]) async -> [TrackedValues.Value]? {
        let missing = zip(names.numbers, values).filter { $0.1.flatMap(RedisNumber.number) == nil }
        var commands = missing.map { name, value in
            // Another process may make it at the same time. What is damaged is replaced.
            let condition: [RedisCommand.Argument] = value == nil ? ["NX"] : []
            return RedisCommand(Self.raising(name, isLasting: names.lasting.contains(name)) + condition)
        }
        commands.append(RedisCommand(["MGET"] + names.numbers.map { .text($0) }))
        let replies = await client.write(commands)
        client.memory.remove(missing.map(\.0))
        guard case .success(let made) = replies.last else { return nil }
        return TrackedValues.values(in: made, count: names.numbers.count)
    }

    /// The body of a response, if the response is still valid.
    public func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? {
        guard let names = ResponseNames(key, space), let values = await client.values(names.all),
            let known = knowledge(in: values.dropFirst()), let value = values.first ?? nil,
            let list = list(in: value, names, known)
        else { return nil }
        let record = list.records.first {
            StoredResponse(bytes: $0.head, for: key)?.bodyNumber == response.bodyNumber
        }
        guard let record else { return nil }
        if let body = record.inlineBody { return body }
        let name = names.body(record.reference)
        guard let found = await client.values([name])?.first ?? nil else { return nil }
        guard let content = StoredList.content(of: found), content.count == record.count else {
            delete(name)
            return nil
        }
        return StoredContent(Data(content))
    }

    // MARK: Numbers

    /// The epoch, the number of removals and the generations, in the order of ``ResponseNames/numbers``; `nil` if one is missing.
    fileprivate func knowledge(in values: ArraySlice<TrackedValues.Value>) -> Knowledge? {
        let numbers = values.compactMap { $0.flatMap(RedisNumber.number) }
        guard numbers.count == values.count, numbers.count > 2 else { return nil }
        let generation = numbers[2...].reduce(UInt64(0)) { sum, number in
            withUnsafeBytes(of: number.littleEndian) { StableHash.checksum($0, sum) }
        }
        return Knowledge(epoch: numbers[0], generation: generation, values: values.compactMap(\.self))
    }

    /// The command that gives a number a new value.
    ///
    /// - Parameter isLasting: Whether it is kept for ever. Others are kept for longer than any response, and there are many.
    static func raising(_ name: String, isLasting: Bool) -> [RedisCommand.Argument] {
        let life: [RedisCommand.Argument] = isLasting ? [] : ["PX", .number(26 * 3_600_000)]
        return ["SET", .text(name), .bytes(RedisNumber.random())] + life
    }

    // MARK: Storing

    /// Stores a response and its body.
    public func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool {
        guard body.count <= largest else { return false }
        let reference = body.count <= StoredList.maximumInlineBody ? 0 : UInt64.random(in: 1 ... .max)
        let record = StoredList.Record(
            head: response.bytes(for: key), reference: reference, count: body.count,
            body: reference == 0 ? Array(body) : [], end: 0)
        return await change(key, since: ticket, body: reference == 0 ? nil : StoredList.framed(Array(body))) { old in
            let removed = old.filter { $0.response.bodyNumber == replaced || response.replaces($0.response) }
            guard removed.allSatisfy({ $0.response.load < response.load }) else { return nil }
            let numbers = Set(removed.map(\.response.bodyNumber))
            let kept = old.filter { !numbers.contains($0.response.bodyNumber) }
            return Change(kept: kept.map(\.record), removed: removed.map(\.record), new: record, response: response)
        }
    }

    /// Replaces the head of a stored response.
    public func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool {
        await change(key, since: ticket, body: nil) { old in
            guard let present = old.first(where: { $0.response.bodyNumber == response.bodyNumber }),
                present.response.load < response.load
            else { return nil }
            var record = present.record
            record.head = response.bytes(for: key)
            let others = old.filter { $0.response.bodyNumber != response.bodyNumber }
            return Change(
                kept: others.filter { !response.replaces($0.response) }.map(\.record),
                removed: others.filter { response.replaces($0.response) }.map(\.record), new: record, response: response
            )
        }
    }

    private typealias Stored = (response: StoredResponse, record: StoredList.Record)

    private struct Change {
        let kept: [StoredList.Record]
        let removed: [StoredList.Record]
        /// The record of the response.
        var new: StoredList.Record
        let response: StoredResponse
    }

    /// Changes the responses of a key, if nothing that concerns it was removed since the ticket was given.
    ///
    /// - Parameters:
    ///   - body: The value of the new body; `nil` if it is stored already or in the list.
    ///   - decide: What is stored instead of the present responses; `nil` for no change.
    private func change(
        _ key: ResponseKey, since ticket: ResponseTicket, body: [UInt8]?, _ decide: ([Stored]) -> Change?
    ) async -> Bool {
        guard let names = ResponseNames(key, space), let known = ticket.context as? Knowledge else { return false }
        for _ in 0..<Self.maximumTries {
            guard let values = await client.values(names.all), let present = knowledge(in: values.dropFirst()),
                present.values == known.values, !key.hasEnded
            else { return false }
            let list = (values.first ?? nil).flatMap { StoredList($0) }
            // What was removed is not stored again.
            let isValid = list?.epoch == known.epoch && list?.generation == known.generation
            let old = (isValid ? list?.records ?? [] : []).compactMap { record in
                StoredResponse(bytes: record.head, for: key).map { ($0, record) }
            }
            guard let change = decide(old) else { return false }
            // A list that is damaged is replaced as well.
            let tag = (values.first ?? nil).map { Array($0.dropFirst(9).prefix(8)) } ?? []
            switch await commit(change, names, known, key, tag: tag, body: body) {
            case .stored: return true
            case .refused: return false
            case .changed: continue
            }
        }
        return false
    }

    /// How often a change is decided again, because other processes were quicker.
    private static let maximumTries = 8

    private func commit(
        _ change: Change, _ names: ResponseNames, _ known: Knowledge, _ key: ResponseKey, tag: [UInt8], body: [UInt8]?
    ) async -> Outcome {
        let (life, now) = (Self.life(of: change.response), now)
        var list = StoredList(
            epoch: known.epoch, generation: known.generation, account: names.account, url: key.url.description)
        var new = change.new
        new.end = now + life
        // Another machine's clock may be wrong.
        let kept = change.kept.filter { $0.end > now && $0.end - now <= Self.longestLife }
        list.records = kept.suffix(StoredList.maximumRecords - 1) + [new]
        var bytes = list.bytes()
        while bytes.count > StoredList.maximumBytes {
            guard list.records.count > 1 else { return .refused }
            list.records.removeFirst()
            bytes = list.bytes()
        }
        let longest = list.records.reduce(life) { max($0, $1.end - now) }
        let unneeded = Set((change.kept + change.removed).map(\.reference)).subtracting(list.records.map(\.reference))
        var arguments: [RedisCommand.Argument] = [.bytes(tag), .bytes(bytes), .number(Int(longest))]
        arguments += [.number(known.values.count)] + known.values.map { .bytes($0) }
        arguments += new.reference == 0 ? ["none"] : body.map { ["new", .bytes($0)] } ?? ["kept"]
        let bodies = (new.reference == 0 ? [] : [new.reference]) + unneeded.filter { $0 != 0 }
        let result = await client.run(
            .commit, [names.list] + names.numbers + bodies.map { names.body($0) }, arguments)
        client.memory.remove(result == 0 ? names.all : [names.list])
        switch result {
        case 1: return .stored
        case -1: return .changed
        default: return .refused
        }
    }

    /// How long a response is useful, in milliseconds: as long as it is fresh or may be served stale, and for an hour if the
    /// server can confirm it.
    private static func life(of response: StoredResponse) -> Int64 {
        let (useful, canBeConfirmed) = response.usefulTime
        let time = min(max(useful, canBeConfirmed ? .seconds(3_600) : .seconds(1)), .milliseconds(longestLife))
        return Int64(time / .milliseconds(1))
    }

    /// In milliseconds.
    private static let longestLife: Int64 = 25 * 3_600_000

    /// The milliseconds since 1970.
    private var now: Int64 { Int64(client.configuration.clock.date.timeIntervalSince1970 * 1_000) }

    // MARK: Leases

    /// The right to ask the server about a key, which one of all processes has.
    public func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease? {
        guard let names = ResponseNames(key, space) else { return .free }
        let token = RedisNumber.random()
        let time = Int(min(max(duration, .milliseconds(1)), .seconds(60)) / .milliseconds(1))
        let command = RedisCommand("SET", .text(names.lease), .bytes(token), "NX", "PX", .number(time))
        switch await client.write(command) {
        case .status:
            return ResponseLease { [client] in _ = await client.run(.release, [names.lease], [.bytes(token)]) }
        case .null: return nil
        default: return .free
        }
    }

    /// Deletes a value that cannot be used.
    private func delete(_ name: String) {
        client.noteDamage()
        Task { [client] in
            _ = await client.write(RedisCommand("DEL", .text(name)))
            client.memory.remove([name])
        }
    }

    // MARK: State

    /// The values in the memory of the process. How many the server has is not known.
    public func usage() async -> ResponseCache.Usage {
        var usage = ResponseCache.Usage()
        (usage.externalResponses, usage.externalBytes) = client.memory.usage
        return usage
    }

    /// What has gone wrong with the client.
    public var problems: CacheProblems {
        let health = client.health
        var problems = CacheProblems()
        problems.count = health.failures
        problems.last = health.lastFailure
        problems.resting = health.isResting ? 1 : 0
        return problems
    }
}

extension RedisResponseStore: ResidentResponseStore {
    /// `true`, because the client leaves its server alone by itself.
    package var limitsItself: Bool { true }

    /// The same as a lookup, from the memory of the process; `nil` if the server has to be asked.
    package func residentLookup(_ key: ResponseKey) -> ResponseLookup? {
        guard let names = ResponseNames(key, space) else { return ResponseLookup() }
        return client.residentValues(names.all).map { lookup($0, names, key) }
    }

    /// A ticket from the memory of the process; `nil` if the server has to be asked.
    package func residentTicket(for key: ResponseKey) -> ResponseTicket? {
        guard let names = ResponseNames(key, space), let values = client.residentValues(names.numbers) else {
            return nil
        }
        return knowledge(in: values[...])?.ticket
    }
}

extension StoredList.Record {
    /// The body, if it is in the list.
    fileprivate var inlineBody: StoredContent? { reference == 0 ? StoredContent(Data(body)) : nil }
}
