#if Persistence
    import EssentialsPersistence

    /// Runs a step, and prints its name with its result, or with the reason of its failure.
    func tell(_ name: String, _ step: () async throws(PersistenceFailure) -> String) async {
        do throws(PersistenceFailure) {
            say("\(name): \(try await step())")
        } catch {
            say("\(name): \(error.reason)")
        }
    }
#endif
