import EssentialsTools

extension ServiceLocator {
    /// Asks the services how they are, all at the same time.
    ///
    /// Only services that are built, belong to this locator and are ``HealthReporting`` are asked. Nothing is built, and parents
    /// are not asked. A service that does not answer in time is `degraded`. In a cancelled task no answer is waited for.
    ///
    /// ```swift
    /// let report = await locator.health()
    /// if !report.isReady { print(report.services) }
    /// ```
    ///
    /// - Parameter limit: The time within which they answer. The default is a second.
    public func health(within limit: Duration = .seconds(1)) async -> HealthReport {
        let (isEnding, isClosed) = (isEnding, isClosed)
        let members = builtServices(as: (any HealthReporting).self)
        let answers = Answers()
        await limited(by: { try? await Task.sleep(for: limit.sleepable) }) {
            await withTaskGroup(of: Void.self) { group in
                for (index, member) in members.enumerated() {
                    group.addTask { answers.set(await member.service.health(), at: index) }
                }
            }
        }
        let found = answers.all
        let silent = ServiceHealth(.degraded, "It has not answered within \(limit).")
        let entries = members.enumerated().map { index, member in
            HealthReport.Entry(
                service: member.labels.joined(separator: ", "), health: found[index] ?? silent)
        }
        return HealthReport(locator: name, isEnding: isEnding, isClosed: isClosed, entries)
    }

    /// The built services of a kind, each once, with the types and names for which they are registered.
    package func builtServices<Service>(as kind: Service.Type = Service.self) -> [(service: Service, labels: [String])]
    {
        var members: [(service: Service, labels: [String])] = []
        var indexes: [ObjectIdentifier: Int] = [:]
        for slot in Self.builtSlots(table.liveSlots()) {
            guard let service = slot.held as? Service else { continue }
            let identity = slot.identity(of: service)
            if let index = indexes[identity] {
                members[index].labels.append(slot.label)
            } else {
                indexes[identity] = members.count
                members.append((service, [slot.label]))
            }
        }
        return members
    }
}

/// The answers that have come in time.
private final class Answers: Sendable {
    private let answers = Mutex<[Int: ServiceHealth]>([:])

    var all: [Int: ServiceHealth] { answers.withLock { $0 } }

    func set(_ health: ServiceHealth, at index: Int) { answers.withLock { $0[index] = health } }
}
