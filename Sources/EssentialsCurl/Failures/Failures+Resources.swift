import EssentialsTransport

// Failures for lack of memory, descriptors or threads.
extension Failures {
    /// There was no memory for a request.
    static func noMemory(_ prepared: PreparedRequest, phase: RequestFailure.Phase = .receiving) -> RequestFailure {
        RequestFailure(
            .resources, "Memory ran out.", remedy: "Send fewer requests at once, or stream large bodies.",
            phase: phase, host: prepared.origin.host.text)
    }

    /// There was no memory for a part that every request needs.
    static func noMemory(for what: String) -> RequestFailure {
        RequestFailure(.resources, "There is no memory for \(what).", remedy: "Free some memory.")
    }

    /// The system has refused a descriptor.
    static func noDescriptor(_ what: String, _ error: SystemError) -> RequestFailure {
        RequestFailure(
            .resources, "The system refused a descriptor for \(what): \(error).",
            remedy: "Raise the limit of open files, or close some.", underlying: error)
    }

    /// There was no descriptor or memory for a connection.
    static func noSocket(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .resources, "The system refused a socket for a connection to \(prepared.origin).",
            remedy: "Raise the limit of open files, or close some.", phase: .connect, host: prepared.origin.host.text)
    }

    static func noThread(_ error: SystemError) -> RequestFailure {
        RequestFailure(
            .resources, "The system refused another thread: \(error).",
            remedy: "Raise the limit of threads, or shut down other transports.", underlying: error)
    }
}
