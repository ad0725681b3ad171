"""Faults that the suite does not try: where they are tried, or why they cannot be tried here.

A name in backticks is a file of the tests, a suite of tests in C++, or one of its tests.
"""

ELSEWHERE = (
    ("processes that fail again after every restart", "`LauncherEdgesTest.ACrashLoopEndsAfterTheRestartsThatAreAllowed`"),
    ("SIGTERM twice", "`LauncherTest.ASecondInterruptKills`"),
    ("a child that starts others in another session", "`LauncherEdgesTest.WhatAWorkerLeavesInAnotherSessionEndsWithTheRun`"),
    ("the link of a host goes down, in both directions: a proxy on one host cannot take a link away",
     "`emulated_partition_test.cc`"),
    ("a process starts late", "`CollectiveTest.ProcessesMayStartFurtherApartThanAnOperationTakes`"),
    ("a port is taken; two jobs at once", "`CoordinatorTest.APortInUseIsRefused`, `LauncherEdgesTest.TwoJobsAtOnceDoNotMeet`"),
    ("a name in place of an address; only IPv6",
     "`NetworkProtection.ANameIsNoAddress`, `CollectiveFaultTest.ANameInsteadOfAnAddressIsRefused`, `AddressFamilyTest.AJobRunsOverIpv6Alone`"),
    ("uneven numbers of steps", "`RandomOrders.OfUnevenStepCountsEndWithinTheBoundOfThoseThatGoOn`, `AgreeOnSteps`"),
    ("a crash at any other moment while a checkpoint is written", "`CheckpointCrashTest`"),
    ("mixed checkpoints, and all damage to a byte or the length of one", "`CheckpointTest`, `TensorFileTest`"),
    ("the checkpoint of another model or optimizer", "`CheckpointTest.AnotherModelOrOptimizerIsRefusedByName`"),
    ("damaged datasets, specs and results", "`tests/fuzz`, `RealTraining.ATruncatedDataFileFailsWithItsPathAndOffset`"),
    ("the runner of a matrix is killed", "`kill_the_runner_test.cc`"),
    ("a rank twice, or missing", "`CoordinatorTest.ADuplicateRankIsRefusedByName`, `CollectiveFaultTest.AMissingRankIsNamedAtTheStart`"),
    ("another model, version or plan", "`ServiceTest.RefusesAWorkerWithAnotherPlanOrWorld`, `JobStateTest.RefusesWhoDoesNotBelong`"),
    ("operations in another order", "`MisuseTest`, `torch_faults_test.py`"),
    ("no GPU, NCCL, mpirun or root", "`CommandLine.WhatCannotRunHereIsListedWithItsReasonAndRefused`"),
    ("more idle connections than one port takes", "`WaitingRoomTest`, `TcpListenerTest`"),
    ("a backlog of pushes at a server; a worker that reads no answers", "`TcpLimitsTest`, `GrpcLimitsTest`, `ShmListenerTest`"),
    ("a replayed push of an earlier step", "`ServiceTest.RefusesAReplayAndAppliesOnce`"),
    ("memory runs out", "`Process.SaysThatMemoryRanOut`, `LimitedRunTest`"),
    ("a full disk under a matrix, and a disk that can only be read", "`results_test.cc`"),
    ("no descriptors, threads or processes",
     "`LimitedRunTest`, `WaitingRoomTest.AGuestComesInWhenStrangersHaveTakenAllDescriptors`, `TcpListenerTest.IsRefusedWithoutAThread`, "
     "`ShmListenerTest.IsIdleUntilThereIsADescriptorForAConnection`"),
    ("NaN, Inf, overflow", "`LauncherTest.ALossThatIsNoNumberEndsTheRunAsDiverged`, `DivergingTest`"),
    ("replicas differ, a bit flips", "`ReplicaTest.AFlippedBitEndsTheRunBeforeTheNextCheckpoint`"),
    ("no token", "`CoordinatorTest.EveryCallNeedsTheToken`, `ServiceTest.EveryCallNeedsTheToken`, `ServerHandshakeTest`"),
    ("links and files of others", "`another_user_test.py`, `TrustedPathTest`, `SudoResults`, `RendezvousTest.APlantedLinkLeadsNobodyElsewhere`"),
    ("a null character in a name", "`MatrixSpec.RefusesANullCharacterInANameWithItsPosition`, `SpecKeys.RefuseNullCharacters`"),
    ("files without end, packed bombs", "`BundleReaderTest.LeavesOutBundlesWhoseFilesHaveNoEnd`, `NpzTest.TakesNoMemoryForWhatAnArchiveOnlyClaims`"),
    ("control sequences of a terminal", "`EscapeSequences`, `PrintText`, `Console`"),
    ("a name that is a path", "`matrix_spec_test.cc`"),
    ("a script in names or logs", "`browser_test.cc`"),
    ("certificates that are wrong from the start", "`TlsConnectionTest`, `TlsJobTest.NothingStartsWithACertificateThatRanOut`"),
)
