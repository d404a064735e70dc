extension ServiceLocatorError {
    /// How many near misses a text lists at most; ``nearMisses`` holds no more either.
    static let nearMissLimit = 8

    static func missing(typeName: String, name: String?, searched: [String], nearMisses: [String]) -> Self {
        let label = Slot.label(typeName, name: name)
        let chain = searched.map { "\"\($0)\"" }.joined(separator: ", then ")
        let message = "No \(label) is registered; searched \(chain)."
        guard !nearMisses.isEmpty else {
            return Self(.missing, message, serviceType: typeName, serviceName: name, searched: searched)
        }
        let listed = Array(nearMisses.prefix(nearMissLimit))
        let more = nearMisses.count - listed.count
        let tail = more > 0 ? "; and \(more) more" : ""
        return Self(
            .missing, "\(message) It comes close to: \(listed.joined(separator: "; "))\(tail).",
            remedy: "Ask for one of these by its type and name, or register \(label) too.",
            serviceType: typeName, serviceName: name, searched: searched, nearMisses: listed)
    }

    static func duplicate(_ slot: Slot, existing: Slot, in locator: ServiceLocator) -> Self {
        Self(
            .duplicate,
            "\(slot.label) cannot be registered in \"\(locator.name)\" at \(slot.site): it was at \(existing.site).",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func tooManyRegistrations(_ slot: Slot, in locator: ServiceLocator) -> Self {
        Self(
            .tooManyRegistrations,
            "\(slot.label) cannot be registered in \"\(locator.name)\" at \(slot.site): it has accepted its limit of "
                + "\(locator.registrationLimit) registrations, replaced and unregistered ones included.",
            serviceType: slot.typeName, serviceName: slot.key.name)
    }

    static func cycle(_ slot: Slot, path: [String]) -> Self {
        Self(
            .cycle, "Building \(slot.label) needs itself: \(path.joined(separator: " -> ")).",
            serviceType: slot.typeName, serviceName: slot.key.name, path: path)
    }

    static func constructionFailed(_ slot: Slot, in locator: ServiceLocator, underlying: any Error) -> Self {
        Self(
            .constructionFailed,
            "The factory of \(slot.label) in \"\(locator.name)\", registered at \(slot.site), failed: \(underlying)",
            serviceType: slot.typeName, serviceName: slot.key.name, underlying: underlying)
    }
}
