#if Persistence
    public import EssentialsLocator
    import EssentialsPersistence
    public import EssentialsSQLite

    extension SQLitePersistenceService: HealthReporting {
        /// `degraded` while the store is being opened; `failed` if it could not be opened, or was closed. The fact is the size of
        /// its log, which grows while a reader does not end.
        public func health() async -> ServiceHealth {
            switch state {
            case .ready: ServiceHealth(.ok, facts: ["log bytes": "\(logBytes)"])
            case .opening: ServiceHealth(.degraded, "The store is being opened.")
            case .failed(let failure): ServiceHealth(.failed, failure.message, facts: ["reason": failure.reason.name])
            case .closed: ServiceHealth(.failed, "The store was closed.")
            }
        }
    }
#endif
