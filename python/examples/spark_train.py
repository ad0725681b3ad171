"""Training in the tasks of a Spark job: ``spark-submit --master local[4] spark_train.py``."""
from pyspark.sql import SparkSession

import ringside.spark


def train(steps: int) -> tuple[int, float]:
    """Calls what each worker does. Returns its rank and its last loss."""
    import torch

    import ringside
    import ringside.torch

    ringside.init()
    torch.manual_seed(ringside.seed())
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05), model)
    generator = torch.Generator().manual_seed(ringside.rank())
    loss = torch.zeros(())
    for _ in range(steps):
        inputs = torch.randn(32, 16, generator=generator)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs)[:, 0], inputs.sum(dim=1))
        loss.backward()
        ringside.report(loss=loss.item(), samples=len(inputs))
        optimizer.step()
    return ringside.rank(), loss.item()


if __name__ == "__main__":
    session = SparkSession.builder.appName("ringside").getOrCreate()
    for rank, loss in ringside.spark.run(train, args=(50,), num_proc=2, spark=session):
        print(f"rank {rank}: loss {loss:.4f}")
    session.stop()
