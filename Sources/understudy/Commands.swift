/// Every command there is.
enum Commands {
    /// The table, in the order help lists it.
    static let table = CommandTable(
        commands: [DemoCommand.spec, ServeCommand.spec, ExecCommand.spec, TestCommand.spec]
            + DeviceCommands.specs + [EnrolCommand.spec, SignInCommand.spec] + OAuthCommands.specs
            + [FetchCommand.spec, ProxyCommand.spec, ConformCommand.spec]
            + WorldCommands.specs + SessionCommands.specs + FlowCommands.specs + [TraceCommand.spec]
            + FaultCommands.specs + IdPCommands.specs + IdPSettings.specs
            + [
                EventsCommand.spec, WaitCommand.spec, StopCommand.spec, DoctorCommand.spec, VersionCommand.spec,
                ProfileCommand.spec, AttestCommand.spec, AttestVerifyCommand.spec, RootsCommand.spec,
                BenchCommand.spec,
            ])
}
