"""A program as people write them with Django: a project of one application in the present folder. Arguments: host, port,
user, password, database, task (migrate, work, check), number of the process."""

import os
import sys

import django
from django.conf import settings
from django.core.management import call_command

ROUNDS = 40
MODELS = """
from django.db import models

class Author(models.Model):
    name = models.CharField(max_length=80)

class Book(models.Model):
    title = models.CharField(max_length=80, db_index=True)
    author = models.ForeignKey(Author, related_name="books", on_delete=models.CASCADE)
{more}
class Counter(models.Model):
    value = models.IntegerField()
"""


def write_models(more):
    os.makedirs("shelf", exist_ok=True)
    open("shelf/__init__.py", "a", encoding="utf8").close()
    with open("shelf/models.py", "w", encoding="utf8") as file:
        file.write(MODELS.replace("{more}", more))


def set_up(host, port, user, password, database):
    sys.path.insert(0, os.getcwd())
    settings.configure(
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "shelf"],
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        USE_TZ=True,
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "HOST": host,
                "PORT": port,
                "USER": user,
                "PASSWORD": password,
                "NAME": database,
                "CONN_MAX_AGE": 60,
            }
        },
    )
    django.setup()


def work(number):
    from django.db import IntegrityError, transaction
    from django.db.models import Count, F
    from shelf.models import Author, Book, Counter

    for i in range(ROUNDS):
        with transaction.atomic():
            author = Author.objects.create(name=f"{number}-{i}")
            Book.objects.bulk_create(Book(title=f"{number}-{i}-{n}", author=author, pages=n) for n in range(3))
            counter = Counter.objects.select_for_update().get(pk=1)
            counter.value += 1
            counter.save()
            try:
                with transaction.atomic():
                    Counter.objects.create(pk=1, value=5)
                raise AssertionError("a second counter")
            except IntegrityError:
                pass
        Counter.objects.filter(pk=1).update(value=F("value") + 1)
        found = Author.objects.annotate(n=Count("books")).prefetch_related("books").get(name=f"{number}-{i}")
        assert found.n == 3 and sorted(b.pages for b in found.books.all()) == [0, 1, 2]
    # A cursor WITH HOLD, read in pieces.
    titles = [b.title for b in Book.objects.filter(title__startswith=f"{number}-").order_by("id").iterator(chunk_size=7)]
    assert titles == [f"{number}-{i}-{n}" for i in range(ROUNDS) for n in range(3)]


def check(processes):
    from django.contrib.auth.models import User
    from shelf.models import Author, Book, Counter

    assert Counter.objects.get(pk=1).value == processes * ROUNDS * 2
    assert (Author.objects.count(), Book.objects.count()) == (processes * ROUNDS, processes * ROUNDS * 3)
    User.objects.create_user("jo", password="secret").delete()
    call_command("migrate", "shelf", "zero", verbosity=0)
    call_command("migrate", "auth", "zero", verbosity=0)
    call_command("migrate", "contenttypes", "zero", verbosity=0)


def main():
    *where, task, number = sys.argv[1:]
    if task == "migrate":
        again = os.path.exists("shelf/migrations")
        write_models("    pages = models.IntegerField(default=0)\n" if again else "")
    set_up(*where)
    if task == "migrate":
        call_command("makemigrations", "shelf", verbosity=0)
        call_command("migrate", verbosity=0)
        from shelf.models import Counter

        Counter.objects.get_or_create(pk=1, defaults={"value": 0})
    elif task == "work":
        work(int(number))
    else:
        check(int(number))


main()
