#if (Server || Inspector) && Persistence
    public import Configuration
    public import EssentialsPersistence
    public import EssentialsSQLite
    public import EssentialsTransport

    extension SQLiteStore {
        /// Reads the description of a store; see ``ConfigurationKey``. What the configuration does not name has its default.
        ///
        /// ```swift
        /// let store = try SQLiteStore(reader, models: [Film.self])
        /// ```
        ///
        /// - Throws: `invalidRequest` if `store.path` is missing, or if a value is wrong.
        public init(_ reader: ConfigReader, models: [any PersistentModel.Type]) throws(RequestFailure) {
            let settings = SettingsReader(reader)
            guard let path = try settings.text(.storePath) else { throw settings.missing(.storePath) }
            self.init(path: path, models: models)
            if let durability = try settings.choice(
                .durability, ["process": Durability.process, "power": Durability.power])
            {
                self.durability = durability
            }
            if let verification = try settings.choice(
                .verification, ["never": Verification.never, "quick": .quick, "full": .full])
            {
                self.verification = verification
            }
            if let count = try settings.number(.readers, in: 1...1_000) { readers = count }
            if let time = try settings.time(.busyTimeout) { busyTimeout = time }
            if let time = try settings.time(.readTimeLimit) { readTimeLimit = time }
        }
    }
#endif
