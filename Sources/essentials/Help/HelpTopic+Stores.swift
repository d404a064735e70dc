extension HelpTopic {
    static let stores = HelpTopic(
        "stores", "The files of a persistence service, and how to move them.",
        """
        A store is one database of SQLite. These files lie beside it:

        NAME-wal:: The log, with what was saved last. It is a part of the store: a copy of the file without it lacks those
        saves. A store that was closed has none.
        NAME-shm:: The index of the log, which all processes share that have the store open.
        NAME-owner:: The claim of the process that owns the store, with its number. The file stays when the process ends,
        but not the lock on it.
        NAME.before-MIGRATION:: A copy from the time before a migration. The two newest are kept.
        NAME.replaced-TIME:: The file that “essentials store restore” has replaced. It is kept until somebody removes it.

        # LOOK INTO A STORE

        “essentials store” with info, schema, rows and check reads a store beside its owner. It changes nothing, and its owner
        never waits for it. A long check keeps the log from being shortened until it ends.

        Other programs may read a store too. Do not let them write or copy the log into the file (a checkpoint): most
        versions of SQLite from 3.7.0 to 3.51.2 can lose pages then, which is the WAL-reset bug. It is fixed in 3.44.6, 3.50.7
        and 3.51.3. “essentials store info” says which version is used.

        # COPY AND RESTORE

        Never copy the file of an open store by other means than “essentials store backup”. The backup is one state of the
        store, whole and without a log. Its mode is 0600.

        “essentials store restore” needs the store for itself. End the process that owns it first, and start it afterwards.
        If the backup is older than the program, its migrations run when the store opens.

        # BUILDS WITHOUT PERSISTENCE

        The tool contains these commands only if it was built with the trait Persistence, which needs the library of SQLite.
        Otherwise they exit with 69.
        """)
}
